# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True, auto_pickle=False
"""The backward pass: ordering a graph, accumulating cotangents, walking back.

A graph is ordered once per `vjp` closure into an `Order`, which no pass changes: any number of passes, in any number
of threads, may use one at once. What a pass accumulates lives in arrays of its own.
"""

import inspect
import operator

import numpy as np

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_INCREF, Py_XDECREF

from fastgrad._engine.capi cimport *
from fastgrad._engine.core cimport NODE_INDEX, REUSE_COTANGENT, REUSE_KEPT
from fastgrad._engine.core cimport ArrayBox, ArrayVSpace, JVPNode, SparseObject, VJPNode, hooks
from fastgrad._engine.core cimport add_indexed, add_into, add_values, fits_space, is_batched
from fastgrad._engine.core cimport is_item, note_path, owns_memory_alone, unbox_all
from fastgrad._engine.core cimport fit_seed, shape_for_seeds, materialize, vspace
from fastgrad._engine.threads cimport fastgrad_has_refs, fastgrad_lock, fastgrad_mutex, fastgrad_unlock

from fastgrad._engine.core import NotBatchable, VSpace, getval, isbox, trace

cimport numpy as cnp
from numpy cimport ndarray

cnp.import_array()

include "graph/accumulation.pxi"
include "graph/containers.pxi"
include "graph/ordering.pxi"
include "graph/walk.pxi"
include "graph/closures.pxi"

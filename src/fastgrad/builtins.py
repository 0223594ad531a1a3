"""Traced lists, tuples and dicts: their boxes, their vector spaces and the primitives that build and index them."""

import inspect

from fastgrad._engine.core import ContainerBox, connect, connect_container_take, contains_box, unbox_all
from fastgrad._rules.arguments import tangents_or_zeros
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.core import SparseObject, VSpace, vspace
from fastgrad.tracer import getval, isbox, notrace_primitive, primitive

dict_, list_, tuple_, isinstance_, type_ = dict, list, tuple, isinstance, type

__all__ = [
    "ContainerVSpace",
    "DictBox",
    "DictMeta",
    "DictVSpace",
    "ListMeta",
    "ListVSpace",
    "NamedTupleVSpace",
    "SequenceBox",
    "SequenceVSpace",
    "TupleMeta",
    "TupleVSpace",
    "container_take",
    "container_untake",
    "dict",
    "isinstance",
    "list",
    "make_sequence",
    "sequence_extend_left",
    "sequence_extend_right",
    "tuple",
    "type",
]

isinstance = notrace_primitive(isinstance_)
type = notrace_primitive(type_)
isinstance.__module__ = type.__module__ = __name__
type.__signature__ = inspect.signature(lambda object, /: None)  # Python's own has none


# ----------------------------------------------------------------------------------------------------------- primitives


@primitive
def container_take(container, index):
    """Return ``container[index]``."""
    return container[index]


@primitive
def container_untake(x, index, space):
    """Return the sparse cotangent in ``space`` that is ``x`` at ``index`` and zero elsewhere."""

    def add_to(container):
        if isinstance_(index, slice):
            indices = range(len(container))[index]
            return space._replace(container, dict_(zip(indices, space._sum_leaves(container, indices, x), strict=True)))
        return space._replace(container, {index: vspace(x).mut_add(container[index], x)})

    return SparseObject(space, add_to)


@primitive
def make_sequence(seq_type, *values):
    """Return the list, tuple or named tuple of type ``seq_type`` with these values."""
    if seq_type is list_ or seq_type is tuple_ or not hasattr(seq_type, "_fields"):
        return seq_type(values)
    return seq_type(*values)


@primitive
def sequence_extend_right(sequence, *values):
    """Return ``sequence`` with ``values`` appended."""
    return sequence + type_(sequence)(values)


@primitive
def sequence_extend_left(sequence, *values):
    """Return ``sequence`` with ``values`` before its own."""
    return type_(sequence)(values) + sequence


@primitive
def _make_dict(keys, values):
    return dict_(zip(keys, values, strict=True))


@primitive
def _assemble(space, *leaves):
    """Return the container of the structure of ``space`` with these leaves."""
    leaves = iter(leaves)
    return space._map(lambda _: next(leaves), space.shape)


def_direct(
    container_take,
    vjps=(lambda g, _ans, vs_container, index: container_untake(g, index, vs_container),),
    jvps=(lambda g, _ans, _container, index: g[index],),
)
connect_container_take(container_take)
def_direct(
    container_untake,
    vjps=(lambda g, _ans, _x, index, _space: g[index],),
    jvps=("same",),
)
def_whole(
    make_sequence,
    vjp=lambda argnums, g, _ans, vs_args, kwargs: [g[i - 1] for i in argnums],
    jvp=lambda argnums, gs, ans, args, kwargs: make_sequence(args[0], *tangents_or_zeros(argnums, gs, args, 1)),
)


def _assemble_vjp(argnums, g, _ans, vs_args, kwargs):
    keys = [key for key, _ in vs_args[0]._items(vs_args[0].shape)]
    return [g[keys[i - 1]] for i in argnums]


def_whole(
    _assemble,
    vjp=_assemble_vjp,
    jvp=lambda argnums, gs, ans, args, kwargs: _assemble(args[0], *tangents_or_zeros(argnums, gs, args, 1)),
)
connect(assemble=_assemble)
def_direct(
    _make_dict,
    vjps=(None, lambda g, _ans, keys, _values: make_sequence(list_, *[g[key] for key in keys])),
    jvps=(None, lambda g, _ans, keys, _values: _make_dict(keys, g)),
)


def _extend_right_vjp(argnums, g, _ans, args, kwargs):
    n = len(args[0])
    return [g[slice(n) if i == 0 else n + i - 1] for i in argnums]


def _extend_left_vjp(argnums, g, _ans, args, kwargs):
    n = len(args) - 1
    return [g[slice(n, None) if i == 0 else i - 1] for i in argnums]


def _extend_jvp(extend):
    def jvp(argnums, gs, ans, args, kwargs):
        return extend(*tangents_or_zeros(argnums, gs, args))

    return jvp


def_whole(sequence_extend_right, _extend_right_vjp, _extend_jvp(sequence_extend_right))
def_whole(sequence_extend_left, _extend_left_vjp, _extend_jvp(sequence_extend_left))


# ---------------------------------------------------------------------------------------------------------------- boxes


class SequenceBox(ContainerBox):
    """A traced list or tuple."""

    __slots__ = ()

    def __len__(self):
        return len(self._value)

    def __iter__(self):
        return iter([self[i] for i in range(len(self._value))])

    def __add__(self, other):
        return sequence_extend_right(self, *_traced_containers(other))

    def __radd__(self, other):
        return sequence_extend_left(self, *_traced_containers(other))

    def __contains__(self, value):
        return value in getval(self)

    def index(self, value):
        """Return the first index of ``value``."""
        return getval(self).index(value)


class DictBox(ContainerBox):
    """A traced dict."""

    __slots__ = ()

    def __len__(self):
        return len(self._value)

    def __iter__(self):
        return iter(getval(self))

    def __contains__(self, key):
        return key in getval(self)

    def keys(self):
        """Return the list of keys."""
        return list_(self)

    def values(self):
        """Return the list of traced values."""
        return [self[key] for key in self]

    def items(self):
        """Return the list of pairs of a key and its traced value."""
        return [(key, self[key]) for key in self]

    def iterkeys(self):
        """Return an iterator over the keys."""
        return iter(self)

    def itervalues(self):
        """Return an iterator over the traced values."""
        return (self[key] for key in self)

    def iteritems(self):
        """Return an iterator over the pairs of a key and its traced value."""
        return ((key, self[key]) for key in self)

    def get(self, key, default=None):
        """Return the traced value of ``key``, or ``default`` if there is no such key."""
        return self[key] if key in self else default


SequenceBox.register(tuple_)
SequenceBox.register(list_)
DictBox.register(dict_)


# -------------------------------------------------------------------------------------------------------- vector spaces


class ContainerVSpace(VSpace):
    """The space of containers of one structure: the product of its values' spaces.

    Attributes
    ----------
    shape : container
        A container of the same structure, with the vector space of each value.
    """

    def __init__(self, value):
        self.shape = self._map(vspace, value)

    @property
    def size(self):
        """int : sum of the sizes of the values' spaces."""
        return sum(space.size for _, space in self._items(self.shape))

    def zeros(self):
        return self._map(lambda space: space.zeros(), self.shape)

    def ones(self):
        return self._map(lambda space: space.ones(), self.shape)

    def randn(self):
        return self._map(lambda space: space.randn(), self.shape)

    def standard_basis(self):
        for key, space in self._items(self.shape):
            for vector in space.standard_basis():
                yield self._replace(self.zeros(), {key: vector})

    def _add(self, x, y):
        return self._map(lambda space, a, b: space._add(a, b), self.shape, x, y)

    def _mut_add(self, x, y):
        return self._map(lambda space, a, b: space._mut_add(a, b), self.shape, x, y)

    def _scalar_mul(self, x, a):
        return self._map(lambda space, b: space._scalar_mul(b, a), self.shape, x)

    def _inner_prod(self, x, y):
        products = self._map(lambda space, a, b: space._inner_prod(a, b), self.shape, x, y)
        return sum(product for _, product in self._items(products))

    def _covector(self, x):
        return self._map(lambda space, a: space._covector(a), self.shape, x)


class SequenceVSpace(ContainerVSpace):
    """The space of sequences of the same length."""

    seq_type = None

    def _map(self, f, first, *others):
        if not others:
            return self._make([f(value) for value in first])
        return self._make(f(*values) for values in zip(first, *others, strict=True))

    def _make(self, values):
        return self.seq_type(values)

    def _items(self, sequence):
        return enumerate(sequence)

    def _sum_leaves(self, container, indices, x):
        return [vspace(leaf).mut_add(container[index], leaf) for index, leaf in zip(indices, x, strict=True)]

    def _replace(self, sequence, leaves):
        changed = list_(sequence)
        for index, leaf in leaves.items():
            changed[index] = leaf
        return self._make(changed)


class TupleVSpace(SequenceVSpace):
    """The space of tuples."""

    seq_type = tuple_


class ListVSpace(SequenceVSpace):
    """The space of lists."""

    seq_type = list_

    def _replace(self, sequence, leaves):
        for index, leaf in leaves.items():
            sequence[index] = leaf
        return sequence


class NamedTupleVSpace(SequenceVSpace):
    """The space of named tuples; subclasses set ``seq_type``."""

    def _make(self, values):
        return self.seq_type(*values)


class DictVSpace(ContainerVSpace):
    """The space of dicts with the same keys."""

    def _map(self, f, first, *others):
        if not others:
            return {key: f(value) for key, value in first.items()}
        return {key: f(value, *(d[key] for d in others)) for key, value in first.items()}

    def _items(self, d):
        return d.items()

    def _replace(self, d, leaves):
        d.update(leaves)
        return d


ListVSpace.register(list_)
TupleVSpace.register(tuple_)
DictVSpace.register(dict_)


# -------------------------------------------------------------------------------- list, tuple and dict of traced values


class _TracedType(type_):
    """Metaclass by which ``isinstance(x, list)`` is true for a traced list too."""

    def __instancecheck__(cls, instance):
        return isinstance_(unbox_all(instance), cls.__mro__[1])


ListMeta = TupleMeta = DictMeta = _TracedType


class tuple(tuple_, metaclass=_TracedType):
    """Replacement of ``tuple``: its result is traced if an item is."""

    def __new__(cls, xs=()):
        return make_sequence(tuple_, *_traced_containers(xs))


class list(list_, metaclass=_TracedType):
    """Replacement of ``list``: its result is traced if an item is."""

    def __new__(cls, xs=()):
        return make_sequence(list_, *_traced_containers(xs))


def traced_container(x):
    """Return nested lists, tuples and dicts as traced containers, and values of all other types as they are."""
    container_type = type_(x)
    if container_type is dict_:
        return dict({key: traced_container(value) for key, value in x.items()})
    if container_type in (list_, tuple_):
        return make_sequence(container_type, *[traced_container(value) for value in x])
    return x


connect(traced_container=traced_container)


_CONTAINERS = frozenset({list_, tuple_, dict_})


def _traced_containers(values):
    """Return the values with lists, tuples and dicts that contain boxes replaced by traced containers.

    A primitive looks for boxes among its arguments only, not inside them.
    """
    return [traced_container(x) if type_(x) in _CONTAINERS and contains_box(x) else x for x in values]


class dict(dict_, metaclass=_TracedType):
    """Replacement of ``dict``: its result is traced if a value is."""

    def __new__(cls, *args, **kwargs):
        if args and isbox(args[0]):
            args = (args[0].items(), *args[1:])
        data = dict_(*args, **kwargs)
        return _make_dict(tuple_(data), list(data.values()))

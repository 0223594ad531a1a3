"""Gradient and Hessian of a four-qubit circuit on default.qubit."""

import numpy as onp
import pennylane as qml
from pennylane import numpy as np

DEVICE = qml.device("default.qubit", wires=4)


@qml.qnode(DEVICE, interface="autograd", diff_method="backprop")
def circuit(weights, features):
    qml.AngleEmbedding(features, wires=range(4))
    qml.StronglyEntanglingLayers(weights, wires=range(4))
    return qml.expval(qml.PauliZ(0) @ qml.PauliX(1))


def job():
    weights = np.array(onp.random.default_rng(0).uniform(0, 3, (2, 4, 3)), requires_grad=True)
    features = np.array([0.1, 0.2, 0.3, 0.4], requires_grad=False)
    gradient = qml.grad(circuit)
    hessian = qml.jacobian(gradient)(weights[:1], features)
    optimizer = qml.GradientDescentOptimizer(0.1)
    for _ in range(5):
        weights = optimizer.step(lambda w: circuit(w, features), weights)
    return {"hessian": hessian, "gradient": gradient(weights, features), "weights": weights}

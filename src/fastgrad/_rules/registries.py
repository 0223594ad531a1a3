"""autograd's registries of rules, as live views of the rules, which are stored on the primitives."""

from collections.abc import MutableMapping

from fastgrad._engine.core import Rules
from fastgrad._rules.direct import registered, set_staged_vjp, set_whole_jvp


class _RuleView(MutableMapping):
    """A mapping from each primitive to a function that applies its rule.

    The function is that of the rule at the time of the lookup; assigning it later restores that rule.
    """

    attribute = apply = set_rule = None

    def __getitem__(self, fun):
        if fun not in self:
            raise KeyError(fun)
        return getattr(getattr(fun, self.attribute), self.apply)

    def __setitem__(self, fun, rule):
        rules = getattr(rule, "__self__", None)
        if isinstance(rules, Rules) and rule.__name__ == self.apply:
            setattr(fun, self.attribute, rules)
        else:
            self.set_rule(fun, rule)

    def copy(self):
        """Return the current contents of the registry as a dict."""
        return dict(self)

    def __contains__(self, fun):
        return getattr(fun, self.attribute, None) is not None

    def __iter__(self):
        return (fun for fun in registered() if fun in self)

    def __len__(self):
        return sum(1 for _ in self)

    def __delitem__(self, fun):
        if fun not in self:
            raise KeyError(fun)
        setattr(fun, self.attribute, None)


class PrimitiveVJPs(_RuleView):
    """A mapping from each primitive to ``maker(argnums, ans, args, kwargs)``, which returns the pullback of a call."""

    attribute, apply = "vjp_rules", "pullback"

    def set_rule(self, fun, maker):
        set_staged_vjp(fun, maker, whole=True)


class PrimitiveJVPs(_RuleView):
    """A mapping from each primitive to ``jvp(argnums, gs, ans, args, kwargs)``, which returns the tangent of a call."""

    attribute, apply = "jvp_rules", "pushforward"

    def set_rule(self, fun, jvp):
        set_whole_jvp(fun, jvp)


class NotracePrimitives:
    """A mapping from each type of node to the set of primitives whose calls it does not record."""

    def __getitem__(self, node_type):
        return {fun for fun in registered() if node_type in fun.notrace}

    def __contains__(self, node_type):
        return bool(self[node_type])

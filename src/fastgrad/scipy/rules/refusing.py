"""Rules that say what has no derivative here."""


def no_rule(fun_name, argument, instead="take a plain value of it with fastgrad.tracer.getval"):
    """Make a rule that refuses to differentiate with respect to one argument.

    Parameters
    ----------
    fun_name, argument : str
        What the message names.
    instead : str
        What can be done.

    Returns
    -------
    callable
        Raises NotImplementedError when it is called as a rule of either mode.
    """

    def refuse(_g, _ans, *_args, **_kwargs):
        raise NotImplementedError(f"{fun_name} has no derivative with respect to {argument!r}; {instead}")

    return refuse


def refuse_keywords(fun_name, instead, **keywords):
    """Raise if one of these keywords is given."""
    given = [name for name, value in keywords.items() if value]
    if given:
        raise NotImplementedError(f"{fun_name} of a traced value has no derivative with {given[0]!r} given; {instead}")

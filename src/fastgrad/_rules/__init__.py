"""How rules are defined: direct rules, autograd's registries, keywords, and the recording of fused derivatives."""

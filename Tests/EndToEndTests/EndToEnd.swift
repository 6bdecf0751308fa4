import Testing

/// All end-to-end tests, one after the other: each loads the machine with a whole stack.
@Suite(.serialized) enum EndToEnd {}

/// Those of plugins, one after the other beside the others: what they wait for is mostly a single program.
@Suite(.serialized) enum PluginsEndToEnd {}

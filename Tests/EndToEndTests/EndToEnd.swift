import Testing

/// All end-to-end tests, one after the other: each loads the machine with a whole stack.
@Suite(.serialized) enum EndToEnd {}

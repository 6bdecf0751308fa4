import TestSupport
import Testing

/// All end-to-end tests, a few at a time: each runs a whole stack, and mostly waits for it.
@Suite(.inTurn, .timeLimit(.minutes(60))) enum EndToEnd {}

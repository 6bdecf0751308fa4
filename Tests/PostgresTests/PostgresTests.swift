import TestSupport
import Testing

/// Tests with a real PostgreSQL, one after the other.
@Suite(.serialized, .enabled(if: PostgresServer.isThere, Comment(rawValue: PostgresServer.hint)))
struct PostgresTests {}

import TestSupport
import Testing

/// Tests with a real PostgreSQL server, one after another.
@Suite(.serialized, .enabled(if: PostgresServer.isThere, Comment(rawValue: PostgresServer.hint)))
struct PostgresTests {}

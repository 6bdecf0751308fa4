import Changelog
import Clocks
import HealthModel

/// Makes the turns of a stage that uses its own file and the machine's clocks.
struct TurnMaker {
    private let database: StageDatabase
    private let changelog: KeyedChangelog
    private let identifiers = Turn.Identifiers(startingAt: WallClock.now.microseconds)
    private let log: StageLog

    init(_ database: StageDatabase, log: StageLog) throws {
        try database.transaction {
            try KeyedChangelog.createTables(in: database.database)
            try Upstream.createTables(in: database.database)
        }
        changelog = try KeyedChangelog(database)
        (self.database, self.log) = (database, log)
    }

    func make() -> Turn {
        Turn(
            now: WallClock.now, monotonic: MonotonicClock.now, log: log, stage: database, changelog: changelog,
            identifiers: identifiers)
    }
}

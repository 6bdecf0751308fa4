import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// What the store says of samples that cover the same time, and that no export has together.
@Suite struct OverlapTests {
    private let life: ExportedLife
    private let fine = CondensedTests.steps([20, 20])

    init() throws { life = try ExportedLife() }

    @Test func sumsThatDisagreeAreListed() throws {
        try life.export(1, fine + CondensedTests.steps([7, 8], from: 1000))
        try life.export(2, CondensedTests.steps([41], length: 20) + CondensedTests.steps([16], from: 1000, length: 20))
        let start = Instant(seconds: 1_700_000_000)
        let expected = TypeOverlaps(stretches: 2, first: start, last: start + .seconds(1020))
        #expect(try life.store.reader.overlaps(user: "anna") == [Record().type: expected])
        #expect(try life.store.reader.overlaps(user: "bob") == [:])
        // A newer export shows which form is left.
        try life.export(3, fine + CondensedTests.steps([7, 8], from: 1000) + CondensedTests.steps([41], length: 20))
        #expect(try life.store.reader.overlaps(user: "anna")[Record().type]?.stretches == 1)
    }

    @Test func formsThatReplaceOthersOrComeTogetherAreNot() throws {
        try life.export(1, fine)
        try life.export(2, CondensedTests.steps([40], length: 20))
        #expect(try life.store.reader.overlaps(user: "anna") == [:])
        let together = try ExportedLife()
        try together.export(1, fine + CondensedTests.steps([40], length: 20))
        #expect(try together.store.reader.overlaps(user: "anna") == [:])
    }

    @Test func aStoreOfAnEarlierReleaseHasNone() throws {
        try life.export(1, fine)
        try life.store.database.execute("DROP TABLE overlaps")
        #expect(try life.store.reader.overlaps(user: "anna") == [:])
    }
}

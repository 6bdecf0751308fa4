import Changelog
import HealthModel
import Protocol
import TestSupport
import Testing

/// What the schema says about individual forms, valid and corrupted.
@Suite(.enabled(if: SchemaChecker.isInstalled, "make test installs the schema's checker")) struct SchemaTests {
    private func check(_ rule: String, _ value: Value) throws -> String? {
        try SchemaChecker.check(rule, CBOREncoder.encode(value))
    }

    private let head: Value = ["store": "s", "generation": "g", "sequence": 12]

    @Test func anchorsHaveTwoForms() throws {
        #expect(try check("anchor", Value(AnchorVector(base: 7))) == nil)
        #expect(try check("anchor", Value(AnchorVector(base: 7, exceptions: ["a": 3]))) == nil)
        #expect(try check("anchor", ["base": 7]) != nil)
        #expect(try check("anchor", ["base": 7, "types": ["a": "3"]]) != nil)
        #expect(try check("anchor", "7") != nil)
        #expect(try check("anchor", -1) != nil)
    }

    @Test func headsNameStoreGenerationAndSequence() throws {
        #expect(try check("store-head", Value(StoreHead(store: "s", generation: "g", sequence: 3))) == nil)
        #expect(try check("store-head", ["store": "s", "generation": "g"]) != nil)
        #expect(try check("store-head", ["store": "s", "generation": 5, "sequence": 3]) != nil)
    }

    @Test func whatIsStoredTwiceIsAskedForAndReported() throws {
        var request = RepairRequest(id: "1", action: "doubles")
        (request.user, request.dryRun, request.revert) = ("me", true, false)
        #expect(try check("control-mend", .object(request.body)) == nil)
        #expect(RepairRequest(.object(request.body)) == request)
    }

    @Test func overlapsAreAMemberOfATypesDays() throws {
        var row = TypeDaysRow(
            user: "me", type: "a", sequence: 7, samples: 2, firstStart: nil, lastEnd: nil, runs: [1, 1], lateDay: [],
            lateCount: [], lateLongest: [])
        #expect(try check("type-days", Value(row)) == nil && Value(row)["overlaps"] == .null)
        row.overlaps = .init(stretches: 2, first: Instant(seconds: 1), last: Instant(seconds: 2))
        #expect(try check("type-days", Value(row)) == nil && Value(row).read(TypeDaysRow.self) == row)
    }

    @Test func unknownMembersAreWelcomeAnywhere() throws {
        let more: Value = ["store": "s", "generation": "g", "sequence": 12, "shard": [1, ["a": .bytes([1])]]]
        #expect(try check("hint", ["head": more, "why": 1.5]) == nil)
        #expect(try check("sync", ["head": more, "released": ["base": 1, "types": [:], "x": .null]]) == nil)
    }

    @Test func rowsOfEachKindAndTombstones() throws {
        func page(_ row: KeyedChangelog.Row) -> Value {
            [
                "id": 1, "attempt": 0, "producer": "p", "head": head, "part": 0, "last": true, "from": 0, "through": 12,
                "rows": .array([row.wireValue]),
            ]
        }
        var row = KeyedChangelog.Row(
            sequence: 3, key: "figures/me/2025-04-05", topic: "figures.steps", user: "me", day: 20183,
            body: ["figures": ["steps": 5.5], "hourly": ["steps": [1.5, .null, 4]]])
        #expect(try check("page-changes", page(row)) == nil)
        row.body = ["figures": ["steps": 5.5]]
        #expect(try check("page-changes", page(row)) != nil)
        row.body = nil
        #expect(try check("page-changes", page(row)) == nil)
        row.day = nil
        row.topic = "events.workouts"
        row.body = ["id": "a", "kind": "workout", "event": [:]]
        #expect(try check("page-changes", page(row)) == nil)
        row.body = ["kind": "workout", "event": [:]]
        #expect(try check("page-changes", page(row)) != nil)
        row.topic = "rumours.none"
        #expect(try check("page-changes", page(row)) != nil)
    }

    @Test(arguments: [true, false]) func pagesOfSamples(isFull: Bool) throws {
        let page = PageFixture.samples(20, isFull: isFull).wireValue
        #expect(try check("sample-page", page) == nil)
        for (name, column) in page.object ?? [:] {
            var members = page.object ?? [:]
            // The same numbers, but without the tag that says how to interpret them.
            if case .column = column { members[name] = .array(column.array ?? []) } else { members[name] = 1 }
            #expect(try check("sample-page", .object(members)) != nil, "\(name)")
        }
    }

    @Test func typedArraysGoByTheirTag() throws {
        #expect(try check("i64-column", .column(.int64([1]))) == nil)
        #expect(try check("i32-column", .column(.int32([1]))) == nil)
        #expect(try check("f64-column", .column(.float64([1]))) == nil)
        #expect(try check("u8-column", .column(.uint8([1]))) == nil)
        #expect(try check("i64-column", .column(.int32([1, 0]))) != nil)
        #expect(try check("f64-column", .column(.int64([1]))) != nil)
        #expect(try check("u8-column", .bytes([1])) != nil)
    }

    @Test func errorsAreResetOrRefused() throws {
        var members: [String: Value] = ["id": 1, "attempt": 0, "producer": "p", "head": head, "error": "reset"]
        #expect(try check("page-error", .object(members)) == nil)
        members["error"] = "gone fishing"
        #expect(try check("page-error", .object(members)) != nil)
        members["error"] = "refused"
        members["reason"] = 3
        #expect(try check("page-error", .object(members)) != nil)
    }

    @Test func importsAreNamedByWhatMayBeAFile() throws {
        var command: [String: Value] = ["command": "import", "id": "3f0c4e9a-0a5b", "path": "/tmp/export.zip"]
        #expect(try check("control-import", .object(command)) == nil)
        for id in ["../../../etc/passwd", "short", "ABCDEFGH-IJ"] {
            command["id"] = .string(id)
            #expect(try check("control-import", .object(command)) != nil, "\(id)")
        }
    }
}

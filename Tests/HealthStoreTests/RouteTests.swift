import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// Which of several exports' routes is stored for a workout.
@Suite struct RouteTests {
    private static let path = "/workout-routes/a.gpx"
    private let store: StoreFixture

    init() throws { store = try StoreFixture() }

    private func piece(_ number: UInt64) -> PieceHash { PieceHash(high: 1, low: number) }

    /// Stores a route in stretches, as an import does.
    /// - Returns: whether the stretches were stored.
    private func attach(
        _ stretches: [String], _ exported: Instant?, piece: PieceHash? = nil, isWhole: Bool = true
    ) throws -> [Bool] {
        try store.database.transaction {
            let stored = try stretches.indices.map { place in
                var route = Self.route(stretches[place])
                route.firstPoint = place
                route.isLast = isWhole && place == stretches.count - 1
                return try store.writer.attachRoute(route, exported: exported)
            }
            if let piece {
                try store.writer.endRoute(piece, path: Self.path, points: stretches.count, exported: exported)
            }
            return stored
        }
    }

    private func see(_ piece: PieceHash, _ exported: Instant?) throws -> Bool {
        try store.database.transaction {
            try store.writer.seeRoute(piece, path: Self.path, exported: exported)
        }
    }

    /// A stretch with one point at this latitude: "[1]".
    private static func route(_ latitude: String) -> WorkoutRoute {
        var route = WorkoutRoute(path: path, workout: nil)
        (route.time, route.latitude) = ([Instant(seconds: 1)], [Double(latitude.dropFirst().dropLast()) ?? .nan])
        (route.longitude, route.elevation, route.speed) = ([13.5], [.nan], [2.25])
        (route.course, route.horizontalAccuracy, route.verticalAccuracy) = ([-1], [.nan], [3])
        return route
    }

    private func texts() throws -> [String] {
        try store.reader.route(user: "anna", path: Self.path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func stored() throws -> [String] {
        try texts().map { try Value(json: Array($0.utf8))["latitude"].json() }
    }

    private func known() throws -> Set<PieceHash> { Set(try store.writer.knownPieces().keys) }

    @Test func aStretchIsStoredInColumns() throws {
        #expect(try attach(["[52.5]"], 5) == [true])
        #expect(
            try texts() == [
                #"{"course":[-1],"elevation":[null],"horizontalAccuracy":[null],"latitude":[52.5],"#
                    + #""longitude":[13.5],"speed":[2.25],"time":[1000000],"verticalAccuracy":[3]}"#
            ])
        let empty = try store.database.transaction {
            try store.writer.attachRoute(WorkoutRoute(path: Self.path, workout: nil), exported: 6)
        }
        #expect(try empty && texts().first?.hasPrefix(#"{"course":[],"elevation":[],"#) == true)
    }

    @Test func theRouteOfTheNewestExportCounts() throws {
        #expect(try attach(["[1]", "[2]"], 5) == [true, true])
        #expect(try attach(["[3]"], 4) == [false])
        #expect(try attach(["[3]"], nil) == [false])
        #expect(try stored() == ["[1]", "[2]"])
        #expect(try attach(["[3]"], 6) == [true])
        #expect(try attach(["[1]", "[2]"], 5) == [false, false])
        #expect(try stored() == ["[3]"])
        // The same export may be read again, since an import may have to start from the beginning.
        #expect(try attach(["[4]"], 6) == [true])
        #expect(try stored() == ["[4]"])
    }

    @Test func withoutADateTheLastCounts() throws {
        #expect(try attach(["[1]"], nil) == [true])
        #expect(try attach(["[2]"], nil) == [true])
        #expect(try stored() == ["[2]"])
        #expect(try attach(["[3]"], 1) == [true])
        #expect(try attach(["[2]"], nil) == [false])
        #expect(try stored() == ["[3]"])
    }

    /// A known file isn't read again, but still counts as seen in the newer export.
    @Test func aKnownRouteIsConfirmedByANewerExport() throws {
        _ = try attach(["[1]"], 5, piece: piece(1))
        #expect(try known() == [piece(1)])
        #expect(try see(piece(1), 9))
        #expect(try see(piece(1), 3))
        #expect(try attach(["[2]"], 7, piece: piece(2)) == [false])
        #expect(try stored() == ["[1]"] && known() == [piece(1)])
        #expect(try attach(["[2]"], 10, piece: piece(2)) == [true])
        #expect(try stored() == ["[2]"])
    }

    /// Only the stored file is known: if a newer export contains another one, that must be read.
    @Test func aReplacedRouteIsReadAgain() throws {
        _ = try attach(["[1]"], 5, piece: piece(1))
        _ = try attach(["[2]"], 6, piece: piece(2))
        #expect(try known() == [piece(2)])
        #expect(try !see(piece(1), 7))
        #expect(try attach(["[1]"], 7, piece: piece(1)) == [true])
        #expect(try stored() == ["[1]"] && known() == [piece(1)])
    }

    /// A route that breaks off isn't the newest, and the file whose place it took must be read again.
    @Test func aRouteThatBreaksOffIsNotTheNewest() throws {
        _ = try attach(["[1]", "[2]"], 5, piece: piece(1))
        #expect(try attach(["[3]"], 9, isWhole: false) == [true])
        #expect(try known().isEmpty)
        #expect(try attach(["[4]"], 6) == [true])
        #expect(try stored() == ["[4]"])
    }

    /// An earlier release didn't record where a route came from, so the next export decides.
    @Test func aRouteOfAnEarlierReleaseIsReplaced() throws {
        _ = try attach(["[1]"], 5, piece: piece(1))
        try store.database.transaction {
            try store.database.execute("DROP TABLE route_exports")
            try HealthStoreSchema.create(in: store.database)
        }
        store.writer = try HealthStoreWriter(database: store.database, user: "anna", sequences: store.sequences)
        #expect(try known().isEmpty)
        #expect(try attach(["[2]"], 4, piece: piece(2)) == [true])
        #expect(try stored() == ["[2]"])
    }
}

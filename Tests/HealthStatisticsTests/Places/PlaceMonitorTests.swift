import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct PlaceMonitorTests {
    private static let start = Instant(seconds: 1_748_736_000)

    private static func home(radius: Double = 100) throws -> PlaceCondition {
        try PlaceCondition(
            name: "Home", latitude: PhoneTrack.home.latitude, longitude: PhoneTrack.home.longitude, radius: radius)
    }

    /// - Parameter fixes: for each one, seconds, metres from the centre, and accuracy.
    private func monitor(
        _ fixes: [(Double, Double, Double)], _ configuration: Value = [:], radius: Double = 100
    ) throws -> PlaceMonitor {
        var monitor = PlaceMonitor(try Self.home(radius: radius), rules: try PlaceRules(configuration))
        for (seconds, metres, accuracy) in fixes {
            let at = PhoneTrack.coordinates(0, metres)
            monitor.take(
                LocationFix(
                    time: Self.start + .seconds(seconds), latitude: at.latitude, longitude: at.longitude,
                    accuracy: accuracy))
        }
        return monitor
    }

    private func seconds(_ instant: Instant?) -> Double? { instant.map { ($0 - Self.start).seconds } }

    @Test func beforeAnyFixNothingIsKnown() throws {
        let monitor = try monitor([])
        #expect(monitor.state == .unknown && monitor.lastEvent == nil && monitor.visits.isEmpty)
    }

    @Test func alreadyInsideCountsAsEntry() throws {
        let monitor = try monitor([(0, 10, 5), (30, 20, 5)])
        #expect(monitor.state == .satisfied)
        #expect(monitor.events == [.init(state: .satisfied, from: .unknown, time: Self.start)])
        let visit = try #require(monitor.visits.first)
        #expect(!visit.isEntered && visit.departure == nil && seconds(visit.lastSeen) == 30 && visit.fixes == 2)
    }

    @Test func whoComesAndGoesHasVisited() throws {
        let monitor = try monitor([(0, 500, 5), (30, 400, 5), (60, 50, 5), (600, 20, 5), (660, 300, 5), (700, 400, 5)])
        let visit = try #require(monitor.visits.first)
        #expect(monitor.visits.count == 1 && monitor.state == .unsatisfied)
        #expect(visit.isEntered && seconds(visit.arrival) == 60 && seconds(visit.departure) == 660)
        #expect(monitor.lastEvent == .init(state: .unsatisfied, from: .satisfied, time: Self.start + .seconds(660)))
    }

    /// A change that lasts less than 20 seconds, or a single fix far away, is ignored.
    @Test(
        arguments: [
            [(0, 0, 5), (60, 0, 5), (120, 3000, 5), (180, 0, 5)],
            [(0, 0, 5), (60, 0, 5), (70, 3000, 5), (85, 3000, 5)],
            [(0, 0, 5), (60, 0, 5), (120, 3000, 5), (121, 3000, 5), (122, 0, 5), (130, 3000, 5), (140, 0, 5)],
        ] as [[(Double, Double, Double)]])
    func aJumpChangesNothing(fixes: [(Double, Double, Double)]) throws {
        let monitor = try monitor(fixes)
        #expect(monitor.state == .satisfied && monitor.events.count == 1 && monitor.visits.count == 1)
    }

    @Test func nearTheEdgeTheStateStays() throws {
        let drift = (0..<50).map { (minute: Int) -> (Double, Double, Double) in
            (Double(60 + minute * 60), Double(101 + minute % 29), 5)
        }
        #expect(try monitor([(0, 20, 5), (30, 20, 5)] + drift).state == .satisfied)
        #expect(try monitor([(0, 500, 5), (30, 500, 5)] + drift).state == .unsatisfied)
        #expect(try monitor(drift).state == .unknown)
        // The less accurate a fix is, the farther away it may be: one that is 150 m from the centre may still be
        // inside.
        #expect(try monitor([(0, 20, 5), (30, 20, 5), (60, 150, 60), (120, 150, 60)]).state == .satisfied)
        #expect(try monitor([(0, 20, 5), (30, 20, 5), (60, 170, 60), (120, 170, 60)]).state == .unsatisfied)
    }

    @Test func coarseFixesDontDecide() throws {
        let coarse = [(60, 5000, 1500), (600, 5000, 101), (900, 5000, -1)] as [(Double, Double, Double)]
        let monitor = try monitor([(0, 20, 5), (30, 20, 5)] + coarse)
        #expect(monitor.state == .satisfied && monitor.undecided == 3)
        // For a circle as large as a town, even such a fix is accurate enough.
        #expect(try self.monitor([(0, 100, 900), (60, 100, 900)], radius: 2000).state == .satisfied)
        #expect(try self.monitor([(0, 90, .nan), (60, 90, .nan)]).state == .satisfied)
    }

    @Test func afterAGapNothingIsKnownAndAllBeginsAgain() throws {
        let hour = 3600.0
        let night = try monitor([(0, 0, 5), (60, 0, 5), (11 * hour, 0, 5)])
        #expect(night.visits.count == 1 && seconds(night.visits.first?.lastSeen) == 11 * hour)
        var lost = try monitor([(0, 0, 5), (60, 0, 5), (13 * hour, 0, 5), (13 * hour + 60, 0, 5)])
        #expect(lost.visits.map { seconds($0.lastSeen) } == [60, 13 * hour + 60])
        #expect(lost.visits.allSatisfy { $0.departure == nil && !$0.isEntered })
        lost.forget(at: Self.start + .seconds(25 * hour))
        #expect(lost.state == .satisfied)
        lost.forget(at: Self.start + .seconds(26 * hour))
        #expect(lost.state == .unknown && lost.visits.count == 2 && lost.lastEvent?.state == .satisfied)
        // A fix before a gap and one after it don't count as agreeing.
        #expect(try monitor([(0, 0, 5), (13 * hour, 0, 5)]).state == .unknown)
    }

    /// The circle is on a sphere; it crosses the date line and contains the pole.
    @Test(arguments: [(0.0, 180.0, 0.0005, -179.9995), (65.0, -179.9999, 65.0, 179.9999), (89.9999, 0, 89.9999, 180)])
    func aCircleIsRoundEverywhere(latitude: Double, longitude: Double, otherLatitude: Double, otherLongitude: Double)
        throws
    {
        let place = try PlaceCondition(name: "Edge", latitude: latitude, longitude: longitude)
        var monitor = PlaceMonitor(place, rules: try PlaceRules([:]))
        for seconds in [0.0, 60] {
            monitor.take(
                LocationFix(
                    time: Self.start + .seconds(seconds), latitude: otherLatitude, longitude: otherLongitude))
        }
        #expect(monitor.state == .satisfied)
    }

    @Test func anEarlierFixChangesNothing() throws {
        let monitor = try monitor([(100, 0, 5), (160, 0, 5), (50, 900, 5), (20, 900, 5)])
        #expect(monitor.state == .satisfied && monitor.visits.count == 1)
    }

    @Test func optionsChangeWhatCounts() throws {
        #expect(try monitor([(0, 0, 5)], ["settleSeconds": 0]).state == .satisfied)
        #expect(try monitor([(0, 0, 5), (60, 0, 5)], ["settleSeconds": 90]).state == .unknown)
        #expect(try monitor([(0, 0, 300), (60, 0, 300)], ["accuracyMeters": 300]).state == .satisfied)
        #expect(try monitor([(0, 0, 5), (60, 0, 5), (7300, 0, 5)], ["gapHours": 2]).state == .unknown)
        for wrong: Value in [["gapHours": 0], ["gapHours": 25], ["marginMeters": -1], ["settleSeconds": 4000]] {
            #expect(throws: PlaceError.option) { try PlaceRules(wrong) }
        }
    }

    @Test(arguments: UInt64(1)...300) func visitsAreThoseOfTheReference(seed: UInt64) throws {
        var random = SeededRandom(seed: seed &* 977)
        var track = PhoneTrack(seed: seed)
        track.jumps = Double.random(in: 0...0.3, using: &random)
        track.coarse = Double.random(in: 0...0.5, using: &random)
        track.jumpsOften = true
        track.wander(25)
        var reference = PlaceReference(
            condition: try Self.home(radius: Double.random(in: 20...800, using: &random)))
        if seed % 2 == 0 {
            reference.gap = Double.random(in: 1...24, using: &random) * 3600
            reference.margin = Double.random(in: 0...100, using: &random)
            reference.accuracy = Double.random(in: 0...300, using: &random)
            reference.settle = seed % 10 == 0 ? 0 : Double.random(in: 0...600, using: &random)
        }
        var monitor = PlaceMonitor(reference.condition, rules: try PlaceRules(reference.configuration))
        for fix in track.fixes { monitor.take(fix) }
        let expected = reference.visits(track.fixes, at: track.coordinates)
        #expect(monitor.visits.map { PlaceReference.Visit($0) } == expected, "\(track.fixes.count) fixes")
    }

    /// Home, work, home: whatever errors a phone makes, the result is three visits that begin and end at about the
    /// right times.
    @Test(arguments: UInt64(1)...60) func aWorkingDayIsThreeVisits(seed: UInt64) throws {
        var track = PhoneTrack(seed: seed)
        let work = PhoneTrack.coordinates(4000, 3000)
        track.stay(7 * 3600, every: 300...900)
        let leaves = track.time
        track.go(to: 4000, 3000, speed: 5, every: 1...10)
        let arrives = track.time
        track.stay(8 * 3600, every: 60...600)
        let goes = track.time
        track.silence(1500)
        track.go(to: 0, 0, speed: 5, every: 1...10)
        let returns = track.time
        track.stay(3 * 3600, every: 300...900)
        let conditions = [
            try Self.home(),
            try PlaceCondition(name: "Work", latitude: work.latitude, longitude: work.longitude, radius: 150),
        ]
        let visits = try conditions.map { condition in
            var monitor = PlaceMonitor(condition, rules: try PlaceRules([:]))
            for fix in track.fixes { monitor.take(fix) }
            return monitor.visits
        }
        try #require(visits[0].count == 2 && visits[1].count == 1, "\(visits)")
        func near(_ a: Instant?, _ b: Instant, _ seconds: Double) -> Bool {
            a.map { abs(($0 - b).seconds) <= seconds } ?? false
        }
        #expect(near(visits[0][0].departure, leaves, 1000) && near(visits[0][1].arrival, returns, 2000))
        #expect(near(visits[1][0].arrival, arrives, 2000) && near(visits[1][0].departure, goes, 1700))
        #expect(visits[0][1].isEntered && visits[1][0].isEntered && !visits[0][0].isEntered)
    }
}

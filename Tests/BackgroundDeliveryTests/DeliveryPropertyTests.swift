import BackgroundDelivery
import HealthModel
import TestSupport
import Testing

/// Random sequences of changes, locks, app states, launches, acknowledgements, restarts and switches.
@Suite struct DeliveryPropertyTests {
    private static let types = ["steps", "heart", "weight", "sleep"]

    private struct Trace: Equatable {
        var fires: [(Instant, String, SequenceNumber)] = []
        static func == (a: Trace, b: Trace) -> Bool {
            a.fires.elementsEqual(b.fires) { $0 == $1 }
        }
    }

    /// - Returns: what fired, and when.
    private func live(seed: UInt64) throws -> Trace {
        var random = SeededRandom(seed: seed)
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        let bench = DeliveryBench {
            $0.floors = ["steps": .hourly, "weight": .daily]
            $0.strikesUntilStopped = Bool.random(using: &random) ? 3 : 0
            $0.wakesPerHour = Bool.random(using: &random) ? 4 : 0
        }
        var trace = Trace()
        /// The sequence number up to which each type has been reported.
        var reported: [String: SequenceNumber] = [:]
        /// When the type last fired on its own, not as a repeat and not because a consumer had just registered.
        var lastWake: [String: Instant] = [:]
        var wakes: [Instant] = []
        bench.register(["*": .immediate])
        for _ in 0..<600 {
            let before = bench.head
            var changed: [String] = []
            var isLaunch = false
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4: changed = Self.types.filter { _ in chance(50) }
            case 5: bench.device.isLocked = chance(30)
            case 6:
                let app = DeviceState.AppState.allCases.randomElement(using: &random) ?? .active
                if app == .active, bench.device.app != .active {
                    bench.table.enteredForeground(known: bench.heads.keys)
                }
                if app == .forceQuit { bench.table.forceQuit() }
                bench.device.app = app
            case 7:
                isLaunch = chance(30)
                if isLaunch { bench.register(["*": .immediate]) }
            case 8:
                bench.device.isDeferring = chance(20)
                let type = Self.types.randomElement(using: &random) ?? "steps"
                bench.table.setOff(chance(15), type, head: bench.head)
            default: try bench.restart()
            }
            for type in changed {
                bench.head = bench.head.next
                bench.heads[type] = bench.head
            }
            bench.table.changed(changed, since: before)
            let time = Duration.seconds(Int64.random(in: 0...900, using: &random))
            bench.now += time
            bench.monotonic += time
            let launchPending = isLaunch || bench.table.isAdvising
            let round = bench.look()
            #expect(!bench.device.isLocked || round.fires.isEmpty)
            for fire in round.fires {
                trace.fires.append((bench.now, fire.type, fire.sequence))
                #expect(!bench.table.off.contains(fire.type))
                guard !fire.isRepeat else { continue }
                reported[fire.type] = fire.sequence
                if bench.device.app != .active, !launchPending {
                    let period = bench.table.effective(fire.type)?.period ?? .zero
                    #expect(lastWake[fire.type].map { bench.now - $0 >= period } ?? true)
                }
                lastWake[fire.type] = bench.now
            }
            if bench.device.app != .active, !launchPending, !round.fires.isEmpty, bench.table.limits.wakesPerHour > 0 {
                wakes.append(bench.now)
                #expect(wakes.count { $0 > bench.now - DeliveryBench.hour } <= 4)
            }
            // Nothing is lost: unreported changes are held, starting at or before the point where reporting stopped.
            for (type, head) in bench.heads where reported[type] ?? 0 < head {
                let held = try #require(bench.table.held[type], "\(type) is neither fired nor held")
                #expect(held < head)
            }
            if !bench.device.isLocked, bench.device.app == .active {
                #expect(bench.table.held.keys.allSatisfy(bench.table.silenced.contains))
            }
        }
        return trace
    }

    @Test(arguments: 0..<40) func nothingIsLostAndNoPeriodHasTwoFires(_ seed: UInt64) throws {
        let trace = try live(seed: seed)
        #expect(trace.fires.count > 20)
        #expect(try live(seed: seed) == trace)
    }
}

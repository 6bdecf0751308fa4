import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Every process is killed (SIGKILL) in the middle of its work, and the result is as if nothing had happened.
    ///
    /// `HEALTHBUS_FAULT_RECORDS`, `HEALTHBUS_FAULT_ROUNDS` and `HEALTHBUS_FAULT_SEED` can be set for larger runs by
    /// hand.
    @Suite struct KillTests {
        static let records = Programs.number("HEALTHBUS_FAULT_RECORDS", else: 20_000)
        static let rounds = Programs.number("HEALTHBUS_FAULT_ROUNDS", else: 1)
        static let seed = Programs.number("HEALTHBUS_FAULT_SEED", else: 1)
        static let strikes = 2

        /// A run without faults: the expected result, and how much work each process had committed by the end.
        struct Faultless: Sendable {
            var content: StackContent
            /// The numbers that the import reported.
            var report: [String]
            var work: [String: Int]
        }

        static let faultless = Task {
            try await withStack { stack in
                let export = try await KillTests.export(in: stack)
                let ended = try await stack.up("--import", export, "--until-idle").ended(within: 600)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                var work: [String: Int] = [:]
                for instance in KillTests.instances { work[instance] = stack.committed(by: instance) }
                return Faultless(
                    content: try await StackContent(of: stack), report: try KillTests.report(of: stack), work: work)
            }
        }

        static let instances = [
            "backend", "observer", "steps", "heart-rate", "sleep", "energy", "workouts", "body", "generic",
            "consolidator", "uploader",
        ]

        static func export(in stack: TestStack) async throws -> String {
            try await stack.generate(
                "export.zip", "--days", "\(max(90, records / 1000))", "--records", "\(records)", "--seed", "\(seed)")
        }

        /// The numbers of records that the observer reports as read, added and known, however many attempts it took.
        static func report(of stack: TestStack) throws -> [String] {
            try stack.rows("observer", "SELECT report FROM imports").map { text in
                let report = try Value(json: Array(text.utf8))
                return "\(["read", "added", "known", "quarantined", "byType"].map { report[$0].json() })"
            }
        }

        @Test(arguments: ["hub", "debouncer"] + instances) func killed(_ victim: String) async throws {
            let expected = try await Self.faultless.value
            for round in 0..<Self.rounds {
                var random = Seeded(UInt64(Self.seed) &* 1000 &+ UInt64(round))
                let moments = (0..<Self.strikes).map { _ in Double.random(in: 0.2..<0.8, using: &random) }.sorted()
                try await withStack { stack in
                    let export = try await Self.export(in: stack)
                    let up = try await stack.up("--import", export, "--until-idle")
                    var log = "seed \(Self.seed), round \(round):"
                    var kills = 0
                    for moment in moments {
                        guard let reached = try await Self.strike(victim, at: moment, of: expected, on: stack, up)
                        else { break }
                        kills += 1
                        log += " killed at \(reached) of \(expected.work[TestStack.gauge(of: victim)] ?? 0)"
                    }
                    #expect(kills > 0, "\(log)")
                    let ended = try await up.ended(within: 600)
                    #expect(ended.exit == .code(0), "\(log)\n\(ended.error.suffix(3000))")
                    let differences = try await StackContent(of: stack).differences(from: expected.content)
                    #expect(differences.isEmpty, "\(log)\n\(differences.joined(separator: "\n"))")
                    #expect(try Self.report(of: stack) == expected.report, "\(log)")
                    Self.note("\(victim), \(log)")
                }
            }
        }

        @Test func supervisorKilled() async throws {
            let expected = try await Self.faultless.value
            for round in 0..<Self.rounds {
                var random = Seeded(UInt64(Self.seed) &* 1000 &+ UInt64(round) &+ 500)
                try await withStack { stack in
                    let export = try await Self.export(in: stack)
                    var up = try await stack.up("--import", export)
                    var log = "seed \(Self.seed), round \(round):"
                    for gauge in ["observer", "uploader"] {
                        let goal = Int(Double.random(in: 0.2..<0.8, using: &random) * Double(expected.work[gauge] ?? 0))
                        try await until("\(gauge) at \(goal); \(up.error.suffix(2000))", within: 300, every: 1) {
                            stack.committed(by: gauge) >= goal
                        }
                        let all = stack.processes
                        up.child.kill()
                        log += " killed with the \(gauge) at \(stack.committed(by: gauge))"
                        // No child process outlives the supervisor.
                        try await until("the end of all children", within: 5) { stack.processes.isEmpty }
                        #expect(all.count >= 13, "\(all.count)")
                        // The file isn't named again: the observer continues with it automatically.
                        // With --until-idle it could be done before the next kill.
                        up = try await stack.up()
                    }
                    up.child.kill()
                    try await until("the end of all children", within: 5) { stack.processes.isEmpty }
                    let ended = try await stack.up("--until-idle").ended(within: 600)
                    #expect(ended.exit == .code(0), "\(log)\n\(ended.error.suffix(3000))")
                    let differences = try await StackContent(of: stack).differences(from: expected.content)
                    #expect(differences.isEmpty, "\(log)\n\(differences.joined(separator: "\n"))")
                    #expect(try Self.report(of: stack) == expected.report, "\(log)")
                    Self.note("supervisor, \(log)")
                }
            }
        }

        /// Kills a process once its gauge has reached a value; returns the value of the gauge at that time. On a busy
        /// machine, a stage that does all its work in one turn may end with its stack before this function notices;
        /// then it returns nil.
        static func strike(
            _ victim: String, at moment: Double, of expected: Faultless, on stack: TestStack, _ up: Command
        ) async throws -> Int? {
            let gauge = TestStack.gauge(of: victim)
            let goal = Int(moment * Double(expected.work[gauge] ?? 0))
            var last: pid_t = 0
            try await until("\(gauge) at \(goal)", within: 300, every: 1) {
                guard let pid = try stack.pid(of: victim), stack.committed(by: gauge) >= max(goal, 1) else {
                    return !up.isRunning
                }
                last = pid
                return true
            }
            let reached = stack.committed(by: gauge)
            guard last != 0 else { return nil }
            kill(last, SIGKILL)
            try await until("the end of \(victim)", within: 5, every: 1) { try stack.pid(of: victim) != last }
            return reached
        }

        /// Prints progress when run by hand.
        private static func note(_ text: String) {
            guard rounds > 1 else { return }
            FileHandle.standardError.write(Data((text + "\n").utf8))
        }
    }
}

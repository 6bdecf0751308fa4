import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Handlers are swapped while samples arrive, and the result is as if nothing had happened.
    ///
    /// `HEALTHBUS_SWAPS` sets a larger number of swaps, for runs by hand.
    @Suite struct SwapTests {
        /// The usual time limit is meant for people; a busy machine needs longer.
        static let patience = ["--within", "\(Int(Patience.seconds))"]
        static let swaps = Programs.number("HEALTHBUS_SWAPS", else: 4)
        /// The number of exports that are imported between two swaps, one every half second.
        static let exportsPerSwap = 4
        static let records = 1000

        static let undisturbed = Task {
            try await withStack { stack in
                let files = try await SwapTests.exports(in: stack)
                let up = try await stack.upAndReady()
                try await SwapTests.feed(files, to: stack) { _ in }
                try await stack.interrupt(up)
                return try await SwapTests.outcome(of: stack)
            }
        }

        static func exports(in stack: TestStack) async throws -> [String] {
            var files: [String] = []
            for number in 0..<(swaps * exportsPerSwap) {
                files.append(
                    try await stack.generate(
                        "export-\(number).zip", "--days", "10", "--records", "\(records)", "--seed", "\(number + 1)"))
            }
            return files
        }

        /// Imports the files one after another, either every half second or as fast as possible, and reports how many
        /// have been imported.
        static func feed(_ files: [String], to stack: TestStack, _ fed: (Int) -> Void) async throws {
            for (number, file) in files.enumerated() {
                let next = ContinuousClock.now + .milliseconds(500)
                let ended = try await stack.onState("import", file, within: 120)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(1000))")
                fed(number + 1)
                try await Task.sleep(until: next)
            }
        }

        /// The result once everything is delivered.
        static func outcome(of stack: TestStack) async throws -> StackContent {
            let ended = try await stack.up("--until-idle").ended(within: 300)
            #expect(ended.exit == .code(0), "\(ended.error.suffix(3000))")
            return try await StackContent(of: stack).withoutTombstones
        }

        /// The processes of all instances except this one.
        static func others(_ stack: TestStack) throws -> [String: pid_t?] {
            var pids: [String: pid_t?] = [:]
            for instance in EndToEnd.KillTests.instances + ["hub", "debouncer"] where instance != "steps" {
                pids[instance] = try stack.pid(of: instance)
            }
            return pids
        }

        /// Swaps to Python and back while the load continues; `disturb` runs during the swap.
        /// - Returns: the time during which neither plugin ran, in milliseconds.
        private static func underLoad(
            on stack: TestStack, _ disturb: @escaping @Sendable (TestStack) async throws -> Void = { _ in }
        ) async throws -> [Double] {
            let expected = try await undisturbed.value
            let files = try await exports(in: stack)
            let up = try await stack.upAndReady()
            let before = try others(stack)
            #expect(before.count == 12 && before.values.allSatisfy { $0 != nil })
            let loading = Task { try await feed(files, to: stack) { _ in } }
            var gaps: [Double] = []
            for number in 0..<swaps {
                // Each swap happens in the middle of a file's changes.
                let goal = "\(number * exportsPerSwap + 1)"
                try await until("\(goal) imports", within: 240) {
                    try stack.number("observer", "SELECT count(*) FROM imports WHERE report IS NOT NULL") >= Int(goal)
                        ?? 0
                }
                let words = number % 2 == 0 ? ["--with", "steps-python"] : ["--back"]
                let old = try stack.pid(of: "steps")
                let swap = try await stack.start(
                    ["swap", "steps", "--json", "--state", stack.state] + words + Self.patience)
                try await disturb(stack)
                let ended = try await swap.ended(within: 120)
                #expect(ended.exit == .code(0), "\(number): \(ended.error) \(up.error.suffix(2000))")
                let result = try ended.json()
                #expect(result["step"] == "done" && result["trial"]["failed"].array?.isEmpty == true)
                gaps.append((result["without"].double ?? .nan) / 1000)
                #expect(try stack.pid(of: "steps") != old)
                let swapped = try await stack.onState("status", "--json").json()["swapped"].array ?? []
                #expect(swapped.map { $0["plugin"] } == (number % 2 == 0 ? ["steps-python"] : []))
            }
            try await loading.value
            #expect(try others(stack) == before)
            #expect(try runners(of: "steps", stack).count == 1)
            try await stack.interrupt(up)
            let differences = try await outcome(of: stack).differences(from: expected)
            #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
            return gaps
        }

        /// All processes of an instance, including those on standby.
        static func runners(of instance: String, _ stack: TestStack) throws -> [(pid: pid_t, standsBy: Bool)] {
            let first = try stack.pid(of: instance)
            return stack.processes.compactMap { pid in
                let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
                let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                guard let index = words.firstIndex(of: "--instance"), words.dropFirst(index + 1).first == instance
                else {
                    return nil
                }
                // One that has taken the place keeps the words with which it was started.
                return (pid, words.contains("--swap") && pid != first)
            }
        }

        /// Every instance, including the hub, is drained and restarted while samples come in.
        @Test func everyInstanceIsRestartedUnderLoad() async throws {
            let expected = try await Self.undisturbed.value
            try await withStack { stack in
                let files = try await Self.exports(in: stack)
                let up = try await stack.upAndReady()
                let loading = Task { try await Self.feed(files, to: stack) { _ in } }
                for instance in ["hub", "debouncer"] + EndToEnd.KillTests.instances {
                    let old = try stack.pid(of: instance)
                    let swapped = try await stack.start(
                        ["swap", instance, "--with", instance, "--state", stack.state] + Self.patience
                    ).ended()
                    #expect(swapped.exit == .code(0), "\(instance): \(swapped.error)\n\(up.error.suffix(2000))")
                    let new = try stack.pid(of: instance)
                    #expect(new != nil && new != old, "\(instance)")
                }
                try await loading.value
                #expect(!stack.recordsSwap)
                try await stack.interrupt(up)
                let differences = try await Self.outcome(of: stack).differences(from: expected)
                #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
            }
        }

        @Test func swappedUnderLoad() async throws {
            try await withStack { stack in
                let gaps = try await Self.underLoad(on: stack).sorted()
                print("swaps: \(gaps.count), ms without: median \(gaps[gaps.count / 2]), most \(gaps.last ?? .nan)")
            }
        }

        /// The running one is killed (SIGKILL) while the other is standing by.
        @Test func swappedUnderLoadWhileTheOldOneIsKilled() async throws {
            try await withStack { stack in
                _ = try await Self.underLoad(on: stack) { stack in
                    try await until("one that stands by", within: 20, every: 1) {
                        try Self.runners(of: "steps", stack).contains { $0.standsBy }
                    }
                    if let pid = try stack.pid(of: "steps") { kill(pid, SIGKILL) }
                }
            }
        }
    }
}

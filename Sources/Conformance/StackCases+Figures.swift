import Changelog
import Configuration
import Foundation
import Glibc
import HealthModel
import Logging
import Processes
import Protocol

/// Cases about a handler's figures: the same samples must give the same figures however they arrive.
extension StackCases {
    private func nextExport() -> Instant {
        exports += 1
        return Instant(seconds: 1_762_000_000 + exports * 3600)
    }

    /// Everything that the first instance has computed after two imports.
    @discardableResult
    func computed() throws -> (head: SequenceNumber, rows: [String: Value]) {
        if let data { return data }
        let process = try running()
        let days = Self.days + [Self.autumn]
        let odd = rows.odd(LocalDay(year: 2025, month: 3, day: 29)) + rows.odd(LocalDay(year: 2025, month: 4, day: 2))
        let ordinary = days.flatMap { rows.ordinary($0) }
        samples = ordinary + odd
        // Each day comes in two parts, so that it is computed again when the second part arrives.
        let (later, earlier) = (
            ordinary.enumerated().filter { $0.offset % 2 == 1 }.map(\.element),
            ordinary.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        )
        var head = try trial.importSamples(later, rows.zones, exported: nextExport())
        try trial.level(name, process, to: head)
        head = try trial.importSamples(odd + earlier, rows.zones, exported: nextExport())
        try trial.level(name, process, to: head)
        let found = try trial.rows(name)
        guard !found.isEmpty else {
            throw ConformanceFault(
                "it gives no figures of \(samples.count) samples in \(days.count) days", said: trial.said(name),
                hint:
                    "are its types those of the manifest? \((manifest.types + manifest.reads).joined(separator: ", "))")
        }
        data = (head, found)
        return (head, found)
    }

    /// Another instance, which gets the same samples in a different way, must have the same rows.
    func compare(
        _ instance: String, _ how: String, _ run: (TrialStack, ChildProcess, SequenceNumber) throws -> Void
    ) throws {
        let (head, expected) = try computed()
        let process = try trial.startAndWait(instance)
        try run(trial, process, head)
        try equal(instance, expected, how)
    }

    private func equal(_ instance: String, _ expected: [String: Value], _ how: String) throws {
        if let difference = FiguresDifference.between(
            expected, try trial.rows(instance), now: "when \(how)", before: "before")
        {
            throw ConformanceFault(
                difference, said: trial.said(instance),
                hint: "figures may depend only on a day's samples: keep nothing else, and read no clock")
        }
    }

    /// Each message that the instance receives is sent a second time, with members that don't exist in any release.
    func repeated() throws {
        let bus = MessageEcho()
        try bus.open(trial.state.address, instance: "repeated")
        defer { bus.close() }
        _ = trial.comes(within: TrialStack.readyWithin) { bus.isHeard }
        try compare("repeated", "messages came twice") { try $0.level("repeated", $1, to: $2) }
        guard bus.count > 0 else { throw Failure("the kit repeated nothing", hint: "report this as a bug of the kit") }
    }

    func crash() throws {
        let (head, expected) = try computed()
        // The instance is killed at its start, when it is ready, and once it has figures.
        for moment in 0..<3 {
            let process = try trial.start("crash")
            let begun = trial.beat("crash")?.head?.sequence ?? .beginning
            _ = trial.comes(within: TrialStack.readyWithin) {
                switch moment {
                case 0: InstanceLock.holder(folder: trial.state.instance("crash")) == Int(process.pid)
                case 1: trial.isReady("crash", process)
                default:
                    trial.isReady("crash", process)
                        && (trial.beat("crash")?.head?.sequence ?? .beginning > begun
                            || trial.beat("crash")?.frontier["observer"] ?? .beginning >= head)
                }
            }
            process.kill()
            process.wait()
        }
        let process = try trial.startAndWait("crash")
        try trial.level("crash", process, to: head)
        try equal("crash", expected, "it was killed three times")
    }

    func drainAtWork() throws {
        let (head, expected) = try computed()
        let process = try trial.startAndWait("drained")
        _ = trial.comes(within: TrialStack.readyWithin) {
            trial.beat("drained").map { $0.stage.pending ?? 0 > 0 || $0.frontier["observer"] ?? .beginning >= head }
                ?? false
        }
        try trial.stop(process, label: "drained")
        let again = try trial.startAndWait("drained")
        try trial.level("drained", again, to: head)
        try equal("drained", expected, "it was stopped while at work")
    }

    func empty() throws {
        _ = try computed()
        let process = try running()
        guard let window = rows.zones.ranges(of: Self.emptied).first else { return }
        // Keeps the samples that touch neither that day nor a night next to it.
        let halfDay = Duration.seconds(12 * 3600)
        let left = samples.filter { $0.end < window.lowerBound - halfDay || $0.start >= window.upperBound + halfDay }
        let head = try trial.importSamples(left, rows.zones, exported: nextExport(), complete: true)
        try trial.level(name, process, to: head)
        let key = "/me/\(Self.emptied)"
        if let row = try trial.rows(name).keys.first(where: { $0.hasSuffix(key) }) {
            throw ConformanceFault(
                "it keeps '\(row)', though that day's samples are gone",
                said: trial.said(name),
                hint: "a day without samples has no figures: leave the member out, never write 0")
        }
        samples = left
        data = nil
    }

    func many() throws {
        _ = try data ?? computed()
        let process = try running()
        let head = try trial.importSamples(
            rows.many(LineCases.manyRows, on: LocalDay(year: 2025, month: 5, day: 6)), rows.zones,
            exported: nextExport())
        try trial.level(name, process, to: head, within: 300)
        data = nil
    }
}

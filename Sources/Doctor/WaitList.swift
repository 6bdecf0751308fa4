import BackgroundDelivery
import Client
import Configuration
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol

/// A list of what is waiting or wrong, each with a remedy: what `healthbus doctor` can find over the bus, and whatever
/// is waiting although nothing is wrong.
package struct WaitList: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package enum Kind: String, Sendable {
            case pending, released, locked, offline, quarantine, alert, task, finding
            case deadLetters = "dead-letters"
        }

        package var kind: Kind
        package var severity: Finding.Severity
        package var subject: String
        package var count: Int?
        package var what: String
        package var remedy: String
        package var since: Instant?
        /// The destination whose dead letters this remedy can send again.
        package var retry: String?
    }

    package let entries: [Entry]

    /// - Parameters:
    ///   - beats: the heartbeats, with their age in seconds.
    ///   - earlier: the same heartbeats, a moment earlier.
    package init(
        _ stack: Stack, _ reader: StackReader, _ beats: Beats, earlier: Beats, now: Instant
    ) {
        var seen = Examination(stack.configuration, state: stack.place, now: now, beats: beats)
        seen.earlier = earlier
        if !stack.configuration.bus.isRemote { seen.freeBytes = DiskSpace.free(at: stack.state.path) }
        var raised: [(from: String, alert: RaisedAlert)] = []
        for instance in stack.configuration.instances
        where (beats[instance.name]?.age ?? .infinity) < 2 * PipelineView.patience {
            // A process that doesn't answer is reported separately; one answer may be late.
            guard let alerts = try? reader.alerts(of: instance) else { continue }
            raised += alerts.map { (instance.name, $0) }
        }
        self.init(seen, raised, stack.advice)
    }

    /// - Parameters:
    ///   - seen: what was heard; files and locks aren't needed.
    ///   - raised: each raised alert, with who raised it.
    package init(_ seen: Examination, _ raised: [(from: String, alert: RaisedAlert)], _ advice: Advice) {
        var seen = seen
        let beats = seen.beats
        // A process that has sent a heartbeat, or is reported to be running, holds its lock; files aren't checked.
        let processes = beats["supervisor"]?.beat.supervisor?.processes ?? []
        seen.held = Set(beats.keys).union(processes.filter { $0.pid != nil }.map(\.name))
        // News doesn't wait for anyone. Dead letters are listed separately, with their number.
        var entries = raised.filter { from, alert in
            let letters = beats[from]?.beat.uploader?.deadLetters ?? 0
            return !alert.isNews && (letters == 0 || alert.kind != Alert.Kind.deadLetters.rawValue)
        }.map { from, alert in
            Entry(
                kind: .alert, severity: .warning, subject: from, what: alert.text, remedy: alert.remedy,
                since: alert.since)
        }
        let findings = Diagnosis.findings(seen).list.filter { !$0.isStanding }
        entries += findings.map { Self.entry($0, beats) }
        entries += Self.waiting(beats, besides: Set(findings.map(\.subject)))
        self.entries = entries.enumerated()
            .sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }
            .map { _, entry in
                var entry = entry
                (entry.what, entry.remedy) = (advice.addressed(entry.what), advice.addressed(entry.remedy))
                return entry
            }
    }

    private static func entry(_ finding: Finding, _ beats: Beats) -> Entry {
        var entry = Entry(
            kind: finding.kind, severity: finding.severity, subject: finding.subject,
            what: ([finding.what] + finding.consequences).joined(separator: "; so "), remedy: finding.remedy)
        if finding.kind == .deadLetters {
            entry.count = (beats[finding.subject]?.beat.uploader?.deadLetters).map { Int($0) }
            entry.retry = finding.subject
        }
        return entry
    }

    /// Whatever is waiting although nothing is wrong.
    /// - Parameter found: processes about which there is a finding, which says how much work they have.
    private static func waiting(_ beats: Beats, besides found: Set<String>) -> [Entry] {
        var entries: [Entry] = []
        for (name, heard) in beats.sorted(by: { $0.key < $1.key }) where Readiness.isUp(heard) {
            let beat = heard.beat
            func add(_ kind: Entry.Kind, _ count: Int?, _ what: String, _ remedy: String) {
                entries.append(
                    Entry(kind: kind, severity: .note, subject: name, count: count, what: what, remedy: remedy))
            }
            if let days = beat.handler?.pending, days > 0, !found.contains(name) {
                add(
                    .pending, days, "has \(days) day\(days == 1 ? "" : "s") to compute",
                    "nothing: it starts with the newest, and continues automatically")
            }
            // A handler's days can be read as a debouncer's types.
            if beat.handler == nil, let types = beat.debouncer?.pending, types > 0 {
                add(
                    .released, types, "holds back changes of \(types) type\(types == 1 ? "" : "s") for a moment",
                    "nothing, or 'healthbus sync' to release them at once")
            }
            if let observer = beat.observer, observer.quarantined > 0 {
                add(
                    .quarantine, Int(observer.quarantined),
                    "quarantined input that is implausible or wasn't understood",
                    "'healthbus quarantine list' says what and why")
            }
            // Until it is due, and while the phone chooses the moment, a task waits as it is meant to.
            for task in beat.stage.tasks ?? []
            where task.state == .pending && task.obstacle != .notYet && task.obstacle != .device {
                add(
                    .task, nil, "the task \(task.id) waits" + (task.waitsFor.map { " for \($0)" } ?? ""),
                    "nothing, or 'healthbus tasks launch \(task.id)'")
            }
        }
        return entries
    }

    package var value: Value {
        [
            "waits": .array(
                entries.map { entry in
                    [
                        "kind": .string(entry.kind.rawValue), "severity": .string(entry.severity.rawValue),
                        "subject": .string(entry.subject), "count": Value(entry.count), "what": .string(entry.what),
                        "remedy": .string(entry.remedy), "since": Value(entry.since.map { InstantText.iso8601($0) }),
                        "retry": entry.retry.map { ["destination": .string($0)] } ?? .null,
                    ]
                })
        ]
    }
}

import HealthModel
import MessageBus
import Protocol
import Terminal

/// Judges from heartbeats whether everything is delivered and every past day is final, and if not, what blocks it.
/// Pure.
package struct IdleWatch: Sendable {
    package enum Verdict: Sendable, Equatable {
        case idle
        /// What is still to come.
        case waiting(String)
        /// Waiting longer won't change anything.
        case blocked(String)
    }

    /// Without progress for this long, whatever is still to come counts as stuck.
    package static let patience = Duration.seconds(90)
    /// The time between checks for progress. These checks read all processes' reports, and nothing waits for their
    /// result.
    private static let progressInterval = Duration.seconds(1)

    private let roles: StackRoles
    /// The observer's head at the moment when the named imports closed.
    private let closedHead: SequenceNumber
    /// What must be delivered: the observer's head when it was first reported at or beyond `closedHead` with no import
    /// open.
    package private(set) var target: SequenceNumber?
    /// Uploaders that have delivered everything, but haven't since compared it with what their backend holds. They
    /// compare on their own, but not often; a command that waits for the end asks them to (`CompareBackend`).
    package private(set) var uncompared: [String] = []
    private var progress = ProgressWatch()
    private var nextProgressLook = MonotonicTime.distantPast

    /// - Parameter closedHead: the observer's head when the named imports closed; the beginning if there were no
    ///   imports.
    package init(roles: StackRoles, closedHead: SequenceNumber) { (self.roles, self.closedHead) = (roles, closedHead) }

    /// - Parameters:
    ///   - beats: the newest heartbeat of each instance, with its age in seconds.
    ///   - notReady: instances that have never been ready.
    package mutating func judge(
        _ beats: Beats, notReady: [String] = [], at monotonic: MonotonicTime
    ) -> Verdict {
        let verdict = notReady.first.map { .waiting("\($0): not ready") } ?? look(beats)
        if monotonic >= nextProgressLook || progress.stillness(at: monotonic) >= Self.patience {
            progress.look(beats, at: monotonic)
            nextProgressLook = monotonic + Self.progressInterval
        }
        let stillness = progress.stillness(at: monotonic)
        if case .waiting(let what) = verdict, stillness >= Self.patience {
            return .blocked("\(what); no progress for \(stillness.components.seconds) s")
        }
        return verdict
    }

    private mutating func look(_ beats: Beats) -> Verdict {
        uncompared = []
        func beat(_ name: String) -> Heartbeat? {
            beats[name].flatMap { $0.age < Repetition.silence.seconds ? $0.beat : nil }
        }
        // This check comes first: dead letters that are being sent again aren't a reason to give up.
        let workers = [roles.observer] + roles.handlers + [roles.consolidator].compactMap { $0 } + roles.uploaders
        for name in workers where beat(name)?.stage.mending?.state == .underWay {
            return .waiting("\(name): a request made by hand")
        }
        for uploader in roles.uploaders {
            guard let reported = beat(uploader)?.uploader else { continue }
            if reported.deadLetters > 0 {
                return .blocked(
                    "'\(uploader)' has \(reported.deadLetters) dead letter\(reported.deadLetters == 1 ? "" : "s")")
            }
            if reported.paused { return .blocked("\(uploader): \(reported.blocked ?? "paused")") }
        }
        guard let observer = beat(roles.observer), let head = observer.head else {
            return .waiting("\(roles.observer): not heard")
        }
        guard observer.observer?.importOpen == false else {
            return .waiting(
                observer.observer?.copying == true
                    ? "\(roles.observer): the stack that this one follows isn't copied to its end yet"
                    : "\(roles.observer): an import is open")
        }
        // A heartbeat from before the imports closed doesn't account for their content.
        guard head.sequence >= closedHead else { return .waiting("\(roles.observer): silent since the import") }
        let target = target ?? head.sequence
        self.target = target
        for name in roles.handlers {
            guard let beat = beat(name) else { return .waiting("\(name): not heard") }
            guard let frontier = beat.frontier[roles.observer], frontier >= target else {
                return .waiting("\(name): \(Self.days(beat.stage.pending ?? 0)) to compute")
            }
        }
        if let name = roles.consolidator {
            guard let beat = beat(name) else { return .waiting("\(name): not heard") }
            guard let frontier = beat.frontier[roles.observer], frontier >= target else {
                return .waiting("\(name): figures to take in")
            }
            if let days = beat.consolidator?.openDays, days > 0 {
                return .waiting("\(name): \(Self.days(days)) not final")
            }
        }
        var waits: String?
        for name in roles.uploaders {
            guard let uploader = beat(name) else { return .waiting("\(name): not heard") }
            let why = uploader.stage.blocked
            let upstreams =
                [(roles.observer, target)] + roles.documents.map { ($0, beats[$0]?.beat.head?.sequence ?? .end) }
            let behind = upstreams.first { upstream in
                uploader.frontier[upstream.0].map { $0 < upstream.1 } ?? true
            }
            // Until it is known that the backend still has what it accepted, it is unknown what has been delivered.
            if let backend = uploader.uploader?.backend, !backend.isCompared {
                let reason = why ?? backend.why
                waits = waits ?? "\(name): comparing what the destination holds" + (reason.map { " (\($0))" } ?? "")
                if behind == nil { uncompared.append(name) }
            } else if let behind {
                waits = waits ?? "\(name): \(why ?? "delivering what \(behind.0) has")"
            }
        }
        if let waits { return .waiting(waits) }
        return failed(beats) ?? .idle
    }

    /// Days that their handler can't compute. They don't hold up any other day, so they are reported only once all
    /// others are delivered.
    private func failed(_ beats: Beats) -> Verdict? {
        let failed = roles.handlers.compactMap { name -> String? in
            guard let days = beats[name]?.beat.handler?.failedDays, days > 0 else { return nil }
            return "\(name): \(Self.days(days)) couldn't be computed"
        }
        return failed.isEmpty ? nil : .blocked(failed.joined(separator: "; "))
    }

    private static func days(_ number: Int) -> String { HumanFormat.count(number, "day") }
}

import BackgroundDelivery
import Changelog
import Configuration
import DeliveryKit
import HealthModel
import Protocol
import Terminal

/// How much work each process has, and whether that amount is shrinking.
extension Diagnosis {
    /// A process that has work but hasn't committed anything for this long is making no progress.
    private static let patience = Duration.seconds(60)
    /// Upstream changes as recent as this may still be waiting in a window in which changes are collected.
    private static let window = Duration.seconds(15)
    /// More days than anyone has ever lived.
    private static let plausibleDays = 45_000

    /// What an instance still has to do.
    private struct Backlog {
        /// The names of the upstreams that it is behind.
        var upstreams: [String]
        /// How many sequence numbers it is behind these upstreams, in total.
        var changes: Int64
        /// The number of days that a handler has to compute.
        var days: Int
        var isEmpty: Bool { upstreams.isEmpty && days == 0 }

        var text: String {
            var parts: [String] = []
            if days > 0 { parts.append("has \(HumanFormat.count(days, "day")) to compute") }
            if !upstreams.isEmpty {
                parts.append(
                    "is behind \(upstreams.joined(separator: ", ")) by \(HumanFormat.count(Int(changes), "change"))")
            }
            return parts.joined(separator: ", and ")
        }
    }

    /// The plugin as the configuration names it: by name, or by its folder.
    private func plugin(of beat: Heartbeat, _ name: String) -> String {
        seen.stack.instance(name)?.plugin ?? beat.plugin
    }

    func progress(_ beat: Heartbeat, _ name: String) -> [Finding] {
        if let since = beat.busySince, seen.now - since > Self.patience {
            return [
                Finding(
                    .warning, name, "has been busy with one turn for \(HumanFormat.duration(seen.now - since))",
                    remedy:
                        "wait while it uses the processor ('healthbus top --once'); if it doesn't, restart it with "
                        + "'healthbus swap \(name) --with \(plugin(of: beat, name))'")
            ]
        }
        let backlog = backlog(beat, name)
        if let blocked = blocked(beat, name, backlog) { return [blocked] }
        guard !backlog.isEmpty, !isHeldUp(beat) else { return [] }
        if isHeldBack(backlog) { return [] }
        if backlog.days > Self.plausibleDays {
            return [
                Finding(
                    .warning, name, "\(backlog.text): more than anyone has lived, so some samples' dates are wrong",
                    remedy: "it starts with the newest and continues on its own; 'healthbus status' shows what is left")
            ]
        }
        if isStuck(beat, name, backlog) {
            return [
                Finding(
                    .error, name, "\(backlog.text), and hasn't committed anything for a minute",
                    remedy:
                        "look at 'healthbus logs \(name)'; what isn't consumed stays where it is, so restarting it "
                        + "loses nothing: 'healthbus swap \(name) --with \(plugin(of: beat, name))'"
                ).because(of: backlog.upstreams)
            ]
        }
        // A single look doesn't show which processes are making progress.
        guard seen.earlier[name] != nil else { return [] }
        return [
            Finding(
                .note, name,
                "\(backlog.text), \(hasMoved(beat, name) ? "and makes progress" : "and waits for its turn")",
                remedy: "nothing: it continues automatically; 'healthbus status' shows what is left"
            ).because(of: backlog.upstreams)
        ]
    }

    /// Whether a destination's backlog has a cause that is reported separately: something only a person can fix, or a
    /// missing network.
    private func isHeldUp(_ beat: Heartbeat) -> Bool {
        beat.uploader.map { $0.paused || $0.path?.isSatisfied == false } ?? false
    }

    /// The work that was pending at the first look and still pending at the second.
    private func backlog(_ beat: Heartbeat, _ name: String) -> Backlog {
        var backlog = Backlog(upstreams: [], changes: 0, days: pending(beat))
        // Only days that were already pending at the first look count as backlog.
        if let earlier = seen.earlier[name]?.beat { backlog.days = min(backlog.days, pending(earlier)) }
        for upstream in beat.frontier.keys.sorted() {
            guard let head = (seen.earlier[upstream] ?? seen.beats[upstream])?.beat.head,
                let changes = beat.lacks(of: upstream, at: head), changes > 0
            else { continue }
            backlog.upstreams.append(upstream)
            backlog.changes += changes
        }
        return backlog
    }

    private func pending(_ beat: Heartbeat) -> Int { beat.handler?.pending ?? 0 }

    private func isStuck(_ beat: Heartbeat, _ name: String, _ backlog: Backlog) -> Bool {
        guard seen.now - (beat.lastCommit ?? .epoch) > Self.patience, !hasMoved(beat, name) else { return false }
        // An instance that has been idle for a long time isn't stuck: the changes it is behind on may have only just
        // arrived.
        let newest = backlog.upstreams.compactMap { seen.beats[$0]?.beat.lastCommit }.max() ?? .epoch
        return backlog.days > 0 || seen.now - newest > Self.window || backlog.changes > 5000
    }

    private func hasMoved(_ beat: Heartbeat, _ name: String) -> Bool {
        guard let earlier = seen.earlier[name]?.beat else { return false }
        return earlier.lastCommit != beat.lastCommit || Progress(earlier) != Progress(beat)
    }

    /// Delivery that has stopped, whether for a second or for a day: the data isn't where it should be.
    private func blocked(_ beat: Heartbeat, _ name: String, _ backlog: Backlog) -> Finding? {
        guard let told = beat.uploader, let why = told.blocked, !isHeldUp(beat) else { return nil }
        let backend = seen.stack.only(.backend)?.name
        let waiting =
            backlog.changes > 0
            ? "; \(HumanFormat.count(Int(backlog.changes), "change")) \(backlog.changes == 1 ? "waits" : "wait")" : ""
        if told.held > 0 {
            return Finding(
                .warning, name, why + waiting,
                remedy: "check the \(destination(name).word)"
                    + (seen.stack.instance(name)?.manifest.declares(DeliverySettings.trust) == true
                        ? "; if it is right, set '\(DeliverySettings.trust)' of '\(name)' to 0" : "")
            ).asCause(because: [backend])
        }
        if destination(name).keeps == .files {
            return Finding(
                .warning, name, "can't write its files at present: \(why)\(waiting)",
                remedy: "nothing is lost, and it retries automatically; 'healthbus sync' tries at once"
            ).asCause(because: [])
        }
        return Finding(
            .warning, name, "isn't delivering at present: \(why)\(waiting)",
            remedy: "nothing is lost, and it retries automatically; 'healthbus sync' tries at once"
        ).asCause(because: [backend])
    }

    /// What every process waits for while the phone is locked is said once.
    var device: [Finding] {
        let waits = seen.stack.instances.contains { instance in
            guard let (beat, age) = seen.beats[instance.name], age < Readiness.patience, !isHeldUp(beat) else {
                return false
            }
            return isHeldBack(backlog(beat, instance.name))
        }
        guard waits, let heldBack, let observer = seen.stack.only(.observer)?.name else { return [] }
        return [
            Finding(
                .note, observer, "\(heldBack), so changes wait",
                remedy: "nothing: they are read as soon as it allows that; 'healthbus device reset' lifts it here")
        ]
    }

    private func isHeldBack(_ backlog: Backlog) -> Bool {
        !backlog.upstreams.isEmpty && backlog.days == 0 && heldBack != nil
    }

    /// Why the device holds everything back; nil if it doesn't.
    private var heldBack: String? {
        guard let device = seen.stack.only(.observer).flatMap({ seen.beats[$0.name]?.beat.observer?.device })
        else { return nil }
        if device.isLocked { return "the device is locked" }
        return device.app == .active ? nil : "the app's state is \(device.app.rawValue)"
    }
}

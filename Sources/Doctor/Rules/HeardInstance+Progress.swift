import BackgroundDelivery
import Configuration
import DeliveryKit
import HealthModel
import Inspection
import Protocol
import Terminal

/// How much work an instance has, and whether that amount is shrinking. At most one of these finds something.
extension HeardInstance {
    /// A process that has work but hasn't committed anything for this long is making no progress.
    private static let patience = Duration.seconds(60)
    /// Upstream changes as recent as this may still be waiting in a window in which changes are collected.
    private static let window = Duration.seconds(15)
    /// More days than anyone has ever lived.
    private static let plausibleDays = 45_000

    var busy: Finding? {
        guard let since = busySince else { return nil }
        return warning(
            "has been busy with one turn for \(HumanFormat.duration(seen.now - since))",
            remedy: "wait while it uses the processor ('healthbus top --once'); if it doesn't, restart it with \(swap)")
    }

    /// Delivery that has stopped, whether for a second or for a day: the data isn't where it should be.
    var blocked: Finding? {
        guard busySince == nil, let uploader, let why = uploader.blocked, !isHeldUp else { return nil }
        let waiting =
            backlog.changes > 0
            ? "; \(HumanFormat.count(Int(backlog.changes), "change")) \(backlog.changes == 1 ? "waits" : "wait")" : ""
        if uploader.held > 0 {
            return warning(
                why + waiting,
                remedy: "check the \(destination.word)"
                    + (instance.manifest.declares(DeliverySettings.trust)
                        ? "; if it is right, set '\(DeliverySettings.trust)' of '\(name)' to 0" : "")
            ).asCause(because: [backend])
        }
        let isFiles = destination.keeps == .files
        return warning(
            "\(isFiles ? "can't write its files" : "isn't delivering") at present: \(why)\(waiting)",
            remedy: "nothing is lost, and it retries automatically; 'healthbus sync' tries at once"
        ).asCause(because: isFiles ? [] : [backend])
    }

    var implausibleDays: Finding? {
        guard isBehind, backlog.days > Self.plausibleDays else { return nil }
        return warning(
            "\(backlog.text): more than anyone has lived, so some samples' dates are wrong",
            remedy: "it starts with the newest and continues on its own; 'healthbus status' shows what is left")
    }

    var stuck: Finding? {
        guard isBehind, backlog.days <= Self.plausibleDays, isStuck else { return nil }
        return error(
            "\(backlog.text), and hasn't committed anything for a minute",
            remedy: "look at 'healthbus logs \(name)'; what isn't consumed stays where it is, so restarting it "
                + "loses nothing: \(swap)"
        ).because(of: backlog.upstreams)
    }

    var shrinking: Finding? {
        // A single look doesn't show which processes are making progress.
        guard isBehind, backlog.days <= Self.plausibleDays, !isStuck, seen.earlier[name] != nil else { return nil }
        return note(
            "\(backlog.text), \(hasMoved ? "and makes progress" : "and waits for its turn")",
            remedy: "nothing: it continues automatically; 'healthbus status' shows what is left"
        ).because(of: backlog.upstreams).listed(as: backlog.days > 0 ? .pending : .finding)
    }

    /// The command that restarts it; the plugin as the configuration names it: by name, or by its folder.
    private var swap: String { "'healthbus swap \(name) --with \(instance.plugin)'" }

    private var busySince: Instant? { beat.busySince.flatMap { seen.now - $0 > Self.patience ? $0 : nil } }

    /// Whether it has work that neither a finding of its own nor the device explains.
    private var isBehind: Bool {
        busySince == nil && uploader?.blocked == nil && !backlog.isEmpty && !isHeldUp && !isHeldBack
    }

    /// Whether a destination's backlog has a cause that is reported separately: something only a person can fix, or a
    /// missing network.
    private var isHeldUp: Bool { uploader.map { $0.paused || $0.path?.isSatisfied == false } ?? false }

    private var isHeldBack: Bool { !backlog.upstreams.isEmpty && backlog.days == 0 && seen.heldBack != nil }

    /// Whether it waits for the device, and for nothing else.
    var waitsForDevice: Bool { !isHeldUp && isHeldBack }

    private var isStuck: Bool {
        guard seen.now - (beat.lastCommit ?? .epoch) > Self.patience, !hasMoved else { return false }
        // An instance that has been idle for a long time isn't stuck: the changes it is behind on may have only just
        // arrived.
        let newest = backlog.upstreams.compactMap { seen.beats[$0]?.beat.lastCommit }.max() ?? .epoch
        return backlog.days > 0 || seen.now - newest > Self.window || backlog.changes > 5000
    }

    private var hasMoved: Bool {
        guard let earlier = seen.earlier[name]?.beat else { return false }
        return earlier.lastCommit != beat.lastCommit || Progress(earlier) != Progress(beat)
    }
}

extension Diagnosis {
    /// What every process waits for while the phone is locked is said once.
    var device: Finding? {
        guard heard.values.contains(where: \.waitsForDevice), let heldBack = seen.heldBack,
            let observer = seen.stack.only(.observer)?.name
        else { return nil }
        return Finding(
            .note, observer, "\(heldBack), so changes wait",
            remedy: "nothing: they are read as soon as it allows that; 'healthbus device reset' lifts it here"
        ).listed(as: seen.beats[observer]?.beat.observer?.device?.isLocked == true ? .locked : .finding)
    }
}

extension Examination {
    /// Why the device holds everything back; nil if it doesn't.
    fileprivate var heldBack: String? {
        guard let device = stack.only(.observer).flatMap({ beats[$0.name]?.beat.observer?.device }) else { return nil }
        if device.isLocked { return "the device is locked" }
        return device.app == .active ? nil : "the app's state is \(device.app.rawValue)"
    }
}

/// What an instance still has to do: the work that was pending at the first look and still is at the second.
struct Backlog {
    /// The names of the upstreams that it is behind.
    private(set) var upstreams: [String] = []
    /// How many sequence numbers it is behind these upstreams, in total.
    private(set) var changes: Int64 = 0
    /// The number of days that a handler has to compute.
    let days: Int

    init(of beat: Heartbeat, _ name: String, in seen: Examination) {
        let pending = beat.handler?.pending ?? 0
        days = min(pending, seen.earlier[name].map { $0.beat.handler?.pending ?? 0 } ?? pending)
        for upstream in beat.frontier.keys.sorted() {
            guard let head = (seen.earlier[upstream] ?? seen.beats[upstream])?.beat.head,
                let changes = beat.lacks(of: upstream, at: head), changes > 0
            else { continue }
            upstreams.append(upstream)
            self.changes += changes
        }
    }

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

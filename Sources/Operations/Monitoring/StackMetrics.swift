import Changelog
import Foundation
import HealthModel
import PluginKit
import Wire

/// The metrics of a stack, from the heartbeats of its instances. Pure.
public struct StackMetrics {
    /// Newest heartbeats with their age in seconds.
    public typealias Beats = [String: (beat: Heartbeat, age: Double)]

    private let stack: StackConfiguration
    private let beats: Beats
    private let now: Instant
    private var page = MetricsPage()

    /// - Parameter lastSamples: end of the newest sample by type.
    public static func page(
        of stack: StackConfiguration, _ beats: Beats, lastSamples: [String: Instant], now: Instant
    ) -> MetricsPage {
        var metrics = StackMetrics(stack: stack, beats: beats, now: now)
        metrics.page.add(.buildInfo, ["\(ProtocolVersion.current)"], 1.0)
        for instance in stack.instances { metrics.add(instance, lastSamples) }
        metrics.addRestarts()
        return metrics.page
    }

    private init(stack: StackConfiguration, beats: Beats, now: Instant) {
        self.stack = stack
        self.beats = beats
        self.now = now
    }

    private mutating func add(_ instance: StackConfiguration.Instance, _ lastSamples: [String: Instant]) {
        let name = instance.name
        let labels = [name, instance.manifest.name]
        let heard = beats[name]
        page.add(.up, labels, Readiness.isUp(heard))
        page.add(.ready, labels, Readiness.isReady(heard))
        if instance.manifest.kind == .handler, let last = stack.known(lastSamples, to: instance).max() {
            page.add(.lastSample, [name], last.seconds)
        }
        guard let (beat, age) = heard else { return }
        page.add(.heartbeatAge, [name], age)
        page.add(.epoch, [name], beat.epoch)
        page.add(.memory, [name], beat.memoryBytes)
        // As it was when it was said: a heartbeat that a commit led to comes from within a turn that ended right after.
        page.add(.busy, [name], beat.busySince.map { max(0, (now - $0).seconds - age) } ?? 0)
        if let last = beat.lastCommit { page.add(.lastCommit, [name], last.seconds) }
        if let turns = beat.turns {
            page.add(.turns, [name], turns.busy.seconds)
            page.add(.turnCount, [name], turns.count)
        }
        if let time = beat.processorTime { page.add(.processor, [name], time.seconds) }
        if let started = beat.started { page.add(.started, [name], started.seconds) }
        addAnchors(beat, name)
        addWork(beat, name, instance.manifest.kind)
        addDelivery(beat, name)
    }

    private mutating func addAnchors(_ beat: Heartbeat, _ name: String) {
        if let head = beat.head { page.add(.head, [name], head.sequence) }
        for (upstream, frontier) in beat.frontier.sorted(by: { $0.key < $1.key }) {
            page.add(.consumed, [name, upstream], frontier)
            guard let head = beats[upstream]?.beat.head else { continue }
            page.add(.lag, [name, upstream], head.distance(from: frontier))
        }
    }

    /// Adds a member of the heartbeat's details where it is a number, or a truth.
    private mutating func add(_ family: MetricFamily, _ labels: [String], _ value: Value?) {
        if let truth = value?.bool {
            page.add(family, labels, truth)
        } else if let number = value?.double {
            page.add(family, labels, number)
        }
    }

    private mutating func addWork(_ beat: Heartbeat, _ name: String, _ kind: Manifest.Kind) {
        let details = beat.details
        let messages = details["messages"]
        for (family, member) in [
            (MetricFamily.sent, "sent"), (.received, "received"), (.dropped, "dropped"), (.malformed, "malformed"),
            (.foreign, "foreign"),
        ] { add(family, [name], messages?[member]) }
        add(.forwarded, [name], details["forwarded"])
        add(.failedDays, [name], details["failedDays"])
        add(.openDays, [name], details["openDays"])
        if let missing = details["missing"]?.array { page.add(.missing, [name], Int64(missing.count)) }
        add(.importOpen, [name], details["importOpen"])
        add(.quarantined, [name], details["quarantined"])
        switch kind {
        case .handler:
            add(.pendingDays, [name], details["pending"])
            if let last = details["lastSynced"]?.int { page.add(.lastSync, [name], last.seconds) }
            if let last = details["lastChecked"]?.int { page.add(.lastCheck, [name], last.seconds) }
        case .debouncer: add(.pendingTypes, [name], details["pending"])
        case .notifier:
            add(.notified, [name], details["told"])
            add(.notificationsFailed, [name], details["givenUp"])
        case .hub, .observer, .consolidator, .uploader, .backend: break
        }
    }

    private mutating func addDelivery(_ beat: Heartbeat, _ name: String) {
        let details = beat.details
        add(.deadLetters, [name], details["deadLetters"])
        add(.paused, [name], details["paused"])
        if details["paused"] != nil { page.add(.blocked, [name], details["blocked"]?.string != nil) }
        add(.networkPath, [name], details["path"]?["satisfied"])
        for (metric, count) in Value.inOrder(details["delivered"]?.object ?? [:]) {
            add(.delivered, [name, metric], count)
        }
        for (metric, last) in Value.inOrder(details["lastDelivered"]?.object ?? [:]) {
            if let last = last.int { page.add(.lastDelivery, [name, metric], last.seconds) }
        }
        let bounds = (details["delayBuckets"]?["bounds"].array ?? []).compactMap(\.double)
        for (metric, delays) in Value.inOrder(details["delayBuckets"]?["metrics"].object ?? [:]) {
            let counts = (delays["counts"].array ?? []).compactMap(\.int)
            guard counts.count == bounds.count + 1 else { continue }
            page.add(
                .deliveryDelay, [name, metric], bounds: bounds, counts: counts, sum: delays["sum"].double ?? 0)
        }
    }

    /// Only the supervisor knows how often it has started whom.
    private mutating func addRestarts() {
        for process in beats["supervisor"]?.beat.details["processes"]?.array ?? [] {
            if let name = process["name"].string { add(.restarts, [name], process["restarts"]) }
        }
    }
}

extension StackConfiguration {
    /// What is known of the types that a handler takes, or reads where all of its types are others'.
    func known<Known>(_ known: [String: Known], to handler: Instance) -> [Known] {
        let types = handler.manifest.types.isEmpty ? handler.manifest.reads : handler.manifest.types
        let named = namedTypes
        return known.filter { types.contains("*") ? !named.contains($0.key) : types.contains($0.key) }.map(\.value)
    }
}

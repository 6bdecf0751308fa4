import BackgroundDelivery
import Configuration
import Foundation
import HealthModel
import Inspection
import Protocol

/// A stack's metrics, from the heartbeats of its instances. Pure.
package struct StackMetrics {
    private let stack: StackConfiguration
    private let beats: Beats
    private let now: Instant
    private var page = MetricsPage()

    /// - Parameter lastSamples: end of the newest sample by type.
    package static func page(
        of stack: StackConfiguration, _ beats: Beats, lastSamples: [String: Instant], now: Instant
    ) -> MetricsPage {
        var metrics = StackMetrics(stack: stack, beats: beats, now: now)
        metrics.page.add(.buildInfo, [ProgramRelease.current, "\(ProtocolVersion.current)"], 1.0)
        for instance in stack.instances { metrics.add(instance, lastSamples) }
        metrics.addRestarts()
        return metrics.page
    }

    private mutating func add(_ instance: StackConfiguration.Instance, _ lastSamples: [String: Instant]) {
        let name = instance.name
        let labels = [name, instance.manifest.name]
        let heard = beats[name]
        page.add(.up, labels, Readiness.isUp(heard))
        page.add(.ready, labels, Readiness.isReady(heard))
        if instance.manifest.kind == .handler, let last = stack.known(lastSamples, to: instance).max() {
            page.add(.lastSample, [name], last.secondsSince1970)
        }
        guard let (beat, age) = heard else { return }
        page.add(.heartbeatAge, [name], age)
        page.add(.epoch, [name], beat.epoch)
        page.add(.memory, [name], beat.memory)
        // The state when the heartbeat was sent. A heartbeat caused by a commit is sent during a turn that ends right
        // afterwards.
        page.add(.busy, [name], beat.busySince.map { max(0, (now - $0).seconds - age) } ?? 0)
        if let last = beat.lastCommit { page.add(.lastCommit, [name], last.secondsSince1970) }
        if let turns = beat.turns {
            page.add(.turns, [name], Duration.microseconds(turns.busy).seconds)
            page.add(.turnCount, [name], turns.count)
        }
        if let time = beat.cpu { page.add(.processor, [name], Duration.microseconds(time).seconds) }
        if let started = beat.started { page.add(.started, [name], started.secondsSince1970) }
        addAnchors(beat, name)
        addWork(beat, name, instance.manifest.kind)
    }

    private mutating func addAnchors(_ beat: Heartbeat, _ name: String) {
        if let head = beat.head { page.add(.head, [name], head.sequence.value) }
        for (upstream, frontier) in beat.frontier.sorted(by: { $0.key < $1.key }) {
            page.add(.consumed, [name, upstream], frontier.value)
            guard let head = beats[upstream]?.beat.head else { continue }
            page.add(.lag, [name, upstream], head.distance(from: frontier))
        }
    }

    private mutating func addWork(_ beat: Heartbeat, _ name: String, _ kind: Manifest.Kind) {
        if let messages = beat.stage.messages {
            page.add(.sent, [name], Int64(messages.sent))
            page.add(.received, [name], Int64(messages.received))
            page.add(.dropped, [name], Int64(messages.dropped))
            page.add(.malformed, [name], Int64(messages.malformed))
            if let foreign = messages.foreign { page.add(.foreign, [name], Int64(foreign)) }
        }
        switch kind {
        case .hub: if let hub = beat.hub { page.add(.forwarded, [name], Int64(hub.forwarded)) }
        case .observer:
            guard let observer = beat.observer else { return }
            page.add(.importOpen, [name], observer.importOpen)
            page.add(.quarantined, [name], observer.quarantined)
        case .debouncer:
            if let debouncer = beat.debouncer { page.add(.pendingTypes, [name], Int64(debouncer.pending)) }
        case .handler:
            guard let handler = beat.handler else { return }
            page.add(.failedDays, [name], Int64(handler.failedDays))
            page.add(.pendingDays, [name], Int64(handler.pending))
            if let last = handler.lastSynced { page.add(.lastSync, [name], last.secondsSince1970) }
            if let last = beat.lastChecked { page.add(.lastCheck, [name], last.secondsSince1970) }
        case .consolidator:
            guard let consolidator = beat.consolidator else { return }
            page.add(.openDays, [name], Int64(consolidator.openDays))
            page.add(.missing, [name], Int64(consolidator.missing.count))
        case .notifier:
            guard let notifier = beat.notifier else { return }
            page.add(.notified, [name], notifier.told)
            page.add(.notificationsFailed, [name], notifier.givenUp)
        case .uploader: if let uploader = beat.uploader { addDelivery(uploader, name) }
        case .ingest:
            guard let ingest = beat.ingest else { return }
            page.add(.requestsTaken, [name], ingest.taken)
            page.add(.requestsRefused, [name], ingest.refused)
            if let last = ingest.lastTaken { page.add(.lastTaken, [name], last.secondsSince1970) }
        case .backend, .dashboard: break
        }
    }

    private mutating func addDelivery(_ uploader: UploaderDetails, _ name: String) {
        page.add(.deadLetters, [name], uploader.deadLetters)
        if let conflicts = uploader.conflicts { page.add(.conflicts, [name], conflicts) }
        page.add(.paused, [name], uploader.paused)
        page.add(.blocked, [name], uploader.blocked != nil)
        if let path = uploader.path { page.add(.networkPath, [name], path.isSatisfied) }
        for (metric, count) in uploader.delivered.sorted(by: { $0.key < $1.key }) {
            page.add(.delivered, [name, metric], count)
        }
        for (metric, last) in uploader.lastDelivered.sorted(by: { $0.key < $1.key }) {
            page.add(.lastDelivery, [name, metric], last.secondsSince1970)
        }
        let bounds = uploader.delayBuckets.bounds.map(Double.init)
        guard !bounds.isEmpty else { return }
        // A rate needs a reading from before the first delivery. Days have no delays.
        let none = UploaderDetails.DelayBuckets.Counts(counts: Array(repeating: 0, count: bounds.count + 1), sum: 0)
        let delivered = uploader.delivered.keys.filter { $0 != "daily" }.map { ($0, none) }
        let metrics = uploader.delayBuckets.metrics.merging(delivered) { counted, _ in counted }
        for (metric, delays) in metrics.sorted(by: { $0.key < $1.key })
        where delays.counts.count == bounds.count + 1 {
            page.add(.deliveryDelay, [name, metric], bounds: bounds, counts: delays.counts, sum: delays.sum)
        }
    }

    /// Only the supervisor knows how often it has restarted each process.
    private mutating func addRestarts() {
        for process in beats["supervisor"]?.beat.supervisor?.processes ?? [] {
            page.add(.restarts, [process.name], Int64(process.restarts))
        }
    }
}

extension StackConfiguration {
    /// What is known about the types that a handler handles, or reads if it handles none of its own.
    package func known<Known>(_ known: [String: Known], to handler: Instance) -> [Known] {
        let types = handler.manifest.types.isEmpty ? handler.manifest.reads : handler.manifest.types
        let named = namedTypes
        return known.filter { types.contains("*") ? !named.contains($0.key) : types.contains($0.key) }.map(\.value)
    }
}

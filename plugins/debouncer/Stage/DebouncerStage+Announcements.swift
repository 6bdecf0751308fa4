import HealthModel
import MessageBus
import Protocol
import StageKit

/// What consumers hear: how far each may pull.
extension DebouncerStage {
    /// Announces released types to the consumers concerned, along with the types of the consumers that these types
    /// trigger.
    func released(_ types: [String], reason: String, _ turn: Turn) throws {
        var types = Set(types)
        for consumer in consumers where !consumer.triggers.isDisjoint(with: types) {
            let more = window.releaseEverything(of: consumer.takes)
            guard !more.isEmpty else { continue }
            types.formUnion(more)
            try save(turn)
        }
        let concerned = consumers.filter { types.contains(where: $0.takes) }
        for consumer in concerned { announce(consumer, turn) }
        open(roundOf: concerned, reason: reason, turn)
    }

    @discardableResult
    func open(roundOf concerned: [Consumer], reason: String, _ turn: Turn) -> Int64 {
        let targets = Dictionary(uniqueKeysWithValues: concerned.map { ($0.name, vector(for: $0)) })
        for name in targets.keys.sorted() { turn.log(.syncMetric, ["consumer": name, "outcome": "starting"]) }
        return rounds.release(
            targets, reason: reason, isUsual: isUndisturbed, now: turn.now, monotonic: turn.monotonic)
    }

    func announce(_ consumer: Consumer, _ turn: Turn) {
        guard let release = release(for: consumer) else { return }
        let before = announcements.sent.updateValue(release, forKey: consumer.name)
        if before?.released != release.released { announcements.repetition.moved(at: turn.monotonic) }
        let isNews = before.map { ($0.off, $0.replay) != (release.off, release.replay) } ?? true
        if isNews {
            announcements.unrepeated.insert(consumer.name)
        } else {
            announcements.unrepeated.remove(consumer.name)
        }
        turn.publish(Release.topic(consumer.name), release)
    }

    private func release(for consumer: Consumer) -> Release? {
        head.map {
            Release(
                head: $0, released: vector(for: consumer), off: window.off.filter(consumer.takes).sorted(),
                replay: announcedReplay)
        }
    }

    /// Whether a consumer can advance its frontier. While something of its own waits to be released, it can't.
    func isBehind(_ consumer: Consumer) -> Bool {
        guard let sent = announcements.sent[consumer.name] else { return true }
        let released = vector(for: consumer)
        return sent.released != released && window.off.isSuperset(of: released.exceptions.keys)
    }

    /// Whether a consumer may have missed what it was sent, as it hasn't reached it, or is to hear of something else.
    func needsRepetition(_ consumer: Consumer) -> Bool {
        guard let sent = announcements.sent[consumer.name], let release = release(for: consumer) else { return true }
        return announcements.unrepeated.contains(consumer.name) || sent.off != release.off
            || sent.replay != release.replay || !rounds.hasReached(consumer.name, sent.released)
    }

    func vector(for consumer: Consumer) -> AnchorVector {
        var exceptions = window.released.exceptions.filter { consumer.takes($0.key) }
        for (type, fired) in offFired where consumer.takes(type) {
            exceptions[type] = min(window.released[type], fired)
        }
        if passesOn(to: consumer) {
            // Types whose windows are still open count as unreleased for other consumers, but not for this one.
            exceptions = exceptions.filter { window.off.contains($0.key) }
            for type in window.off where consumer.takes(type) {
                exceptions[type] = exceptions[type] ?? window.released[type]
            }
        }
        return AnchorVector(base: window.released.base, exceptions: exceptions)
    }

    /// Whether a consumer gets samples while the file that they come from is still being read. Days would be computed
    /// again for each part of the file; delivering a sample early costs nothing, and the import leaves the machine time
    /// for it.
    func passesOn(to consumer: Consumer) -> Bool {
        consumer.role == .uploader && window.isImporting && window.reach == .everything
    }
}

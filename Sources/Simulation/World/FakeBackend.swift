import DeliveryKit
import HTTP
import HealthModel
import StageKit
import UploaderStage

/// A backend in memory: a versioned upsert that keeps tombstones, and counts how often each (id, version) was accepted
/// as new.
package struct FakeBackend {
    package struct Key: Hashable {
        package var user: String
        /// "samples", "nights", "days", "workouts".
        package var kind: String
        package var id: String
    }

    package struct Entry: Equatable {
        package var version: Int64
        /// The content without the version; nil for a tombstone.
        package var content: Value?
    }

    private struct Acceptance: Hashable {
        var key: Key
        var version: Int64
    }

    package private(set) var entries: [Key: Entry] = [:]
    private var accepted: [Acceptance: Int] = [:]
    package private(set) var generation = 1
    /// Rises with each request that changes anything.
    private var sequence: Int64 = 0
    private var created: Int64 = 0

    package init() {}

    /// How many (id, version) pairs changed something more than once.
    package var acceptedTwice: Int { accepted.values.count { $0 > 1 } }

    /// Loses the backend's machine; a different, empty one takes its place.
    package mutating func replace() {
        entries = [:]
        accepted = [:]
        (sequence, created) = (0, 0)
        generation += 1
    }

    /// The living elements of a kind.
    package func alive(_ kind: String) -> [Key: Value] {
        entries.compactMapValues(\.content).filter { $0.key.kind == kind }
    }

    /// Stores a request's elements.
    /// - Throws: an error if the body isn't JSON.
    package mutating func take(_ request: UploadRequest) throws -> UploadReply {
        let body = try Value(json: request.body)
        let user = body["userId"].string ?? ""
        var counts = (created: Int64(0), updated: Int64(0), known: Int64(0))
        func put(_ entries: inout [Key: Entry], _ accepted: inout [Acceptance: Int], _ key: Key, _ entry: Entry) {
            let before = entries[key]
            guard entry.version > before?.version ?? .min else {
                counts.known += 1
                return
            }
            entries[key] = entry
            accepted[Acceptance(key: key, version: entry.version), default: 0] += 1
            if before == nil { counts.created += 1 } else { counts.updated += 1 }
        }
        for kind in ["samples", "workouts", "nights", "days"] {
            for element in body[kind].array ?? [] {
                var members = element.object ?? [:]
                let version = members.removeValue(forKey: "version")?.int ?? 0
                let id = (kind == "days" ? members["date"] : members["id"])?.string ?? ""
                put(
                    &entries, &accepted, Key(user: user, kind: kind, id: id),
                    Entry(version: version, content: .object(members)))
            }
        }
        let deletedKind =
            switch request.path {
            case UploadMetric.daily.path: "days"
            case UploadMetric.workouts.path: "workouts"
            default: "samples"
            }
        for (list, kind) in [("deleted", deletedKind), ("deletedNights", "nights")] {
            for element in body[list].array ?? [] {
                put(
                    &entries, &accepted, Key(user: user, kind: kind, id: element["id"].string ?? ""),
                    Entry(version: element["version"].int ?? 0, content: nil))
            }
        }
        if counts.created + counts.updated > 0 { sequence += 1 }
        created += counts.created
        let answer: Value = [
            "sequence": .integer(sequence),
            "counts": [
                "created": .integer(counts.created), "updated": .integer(counts.updated),
                "known": .integer(counts.known),
            ],
            "refused": [], "held": [:], "generation": .string("generation-\(generation)"),
        ]
        return .answered(status: 200, body: Array(answer.json().utf8))
    }

    /// What it holds, in the form of the reference backend's `stats`.
    package var holdings: UploadReply {
        let answer: Value = [
            "generation": .string("generation-\(generation)"), "sequence": .integer(sequence),
            "samples": ["alive": .integer(Int64(entries.count)), "deleted": 0],
            "counters": ["created": .integer(created)],
        ]
        return .answered(status: 200, body: Array(answer.json().utf8))
    }
}

extension UploadReply {
    /// The reply to a request or a question, in the form that the uploader's own runner reports.
    package func result(of effect: Effect) -> EffectResult {
        if let request = effect.request as? UploadRequest {
            return EffectResult(id: effect.id, value: request.reply(to: self))
        }
        if let question = effect.request as? HoldingsRequest {
            return EffectResult(id: effect.id, value: question.reply(to: self))
        }
        return EffectResult(id: effect.id, value: self)
    }
}

import DeliveryKit
import HTTP
import HealthModel
import JSON
import UploaderStage

/// A backend that remembers only what a measurement needs about each sample: its version, whether it is alive, and when
/// it first arrived.
package struct DeliveryLog {
    private struct Entry {
        var version: Int64
        var isAlive: Bool
        /// HealthKit's UUID; nil for the deletion of a sample that never arrived.
        var uuid: SampleID?
    }

    private var entries: [SampleID: Entry] = [:]
    /// When each sample first arrived, by HealthKit UUID.
    package private(set) var arrivals: [SampleID: Instant] = [:]
    /// How many elements contained nothing new.
    package private(set) var repeated = 0

    package init() {}

    /// The HealthKit UUIDs of living samples, and how often each occurs.
    package var alive: [SampleID: Int] {
        var counts: [SampleID: Int] = [:]
        for entry in entries.values where entry.isAlive { if let uuid = entry.uuid { counts[uuid, default: 0] += 1 } }
        return counts
    }

    /// - Throws: `JSONScanError` when the body isn't JSON.
    package mutating func take(_ request: DeliveryRequest, at now: Instant) throws -> UploadReply {
        let isDaily = request.path == DeliveryMetric.daily.path
        var changed = 0
        var known = 0
        /// The number of days and nights, which aren't examined.
        var passed = 0
        try request.body.withUnsafeBytes { body in
            var scanner = JSONScanner(body)
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let isDeletion = name == "deleted"
                guard !isDaily, isDeletion || name == "samples" || name == "workouts" else {
                    if scanner.nextIsArray() {
                        passed += try scanner.countedArray().count
                    } else {
                        _ = try scanner.value()
                    }
                    continue
                }
                try scanner.beginArray()
                while try scanner.nextElement() {
                    if try takeElement(&scanner, isDeletion: isDeletion, at: now) { changed += 1 } else { known += 1 }
                }
            }
        }
        repeated += known
        let answer: Value = [
            "counts": ["created": 0, "updated": .integer(Int64(changed)), "known": .integer(Int64(known + passed))],
            "refused": [], "held": [:], "generation": "simulated",
        ]
        return .answered(status: 200, body: Array(answer.json().utf8))
    }

    /// The answer when the backend is asked what it holds; it never loses anything.
    package var holdings: UploadReply {
        let answer: Value = [
            "generation": "simulated", "samples": ["alive": .integer(Int64(entries.count)), "deleted": 0],
        ]
        return .answered(status: 200, body: Array(answer.json().utf8))
    }

    /// Returns true if the element changed something.
    private mutating func takeElement(_ scanner: inout JSONScanner, isDeletion: Bool, at now: Instant) throws -> Bool {
        var id: SampleID?
        var uuid: SampleID?
        var version: Int64 = 0
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let value = try scanner.value()
            if name == "id" {
                id = SampleID(uuid: value.bytes)
            } else if name == "healthkitUUID" {
                uuid = SampleID(uuid: value.bytes)
            } else if name == "version" {
                version = value.integer ?? 0
            }
        }
        guard let id else { return false }
        let before = entries[id]
        guard version > before?.version ?? .min else { return false }
        entries[id] = Entry(version: version, isAlive: !isDeletion, uuid: uuid ?? before?.uuid)
        if let uuid, arrivals[uuid] == nil { arrivals[uuid] = now }
        return true
    }
}

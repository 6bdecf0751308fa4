import Changelog
import FilesStage
import HealthModel
import MessageBus
import Protocol
import TestSupport

/// The observer in front of a files stage: samples of one person, with types that may be denied.
struct FilesObserver {
    struct Sample {
        var type: String
        var start: Instant
        var sequence: Int64
        var isDeleted = false
    }

    var samples: [Sample] = []
    var denied: Set<String> = []
    var sequence: Int64 = 0
    /// The times that were read for each slice.
    var slices: [Range<Instant>] = []

    mutating func add(_ type: String, at start: Instant) {
        sequence += 1
        samples.append(Sample(type: type, start: start, sequence: sequence))
    }

    /// Gives new versions to a type's samples, as when it is allowed again.
    mutating func renew(_ type: String, isDeleted: Bool = false) {
        for index in samples.indices where samples[index].type == type {
            sequence += 1
            samples[index].sequence = sequence
            samples[index].isDeleted = samples[index].isDeleted || isDeleted
        }
    }

    /// The page that answers a pull; nil if that is for somebody else.
    mutating func page(for pull: Pull) -> Value? {
        let shown = samples.filter { !denied.contains($0.type) }
        switch pull.question.query {
        case is TypesQuery:
            let rows = Dictionary(grouping: shown, by: \.type).map { type, all in
                let alive = all.filter { !$0.isDeleted }.map(\.start)
                return TypeRow(
                    user: "me", type: type, sequence: SequenceNumber(sequence), alive: alive.count,
                    deleted: all.count - alive.count, quarantined: 0, firstStart: alive.min(), lastStart: alive.max(),
                    lastEnd: alive.max())
            }
            return Value(TypesPage(types: rows, quarantined: 0))
        case let slice as SliceRequest:
            slices.append(slice.from..<slice.to)
            let found = shown.filter {
                guard case .only([$0.type]) = slice.types else { return false }
                return !$0.isDeleted && (slice.from..<slice.to).contains($0.start)
            }
            return ["samples": Self.page(found).wireValue]
        case is SamplesQuery:
            let after = pull.question.place.after?.base.value ?? 0
            let found = shown.filter { $0.sequence > after }.sorted { $0.sequence < $1.sequence }
            return [
                "samples": Self.page(found).wireValue, "users": ["me"],
                "user": .column(.int32(Array(repeating: 0, count: found.count))), "from": .integer(after),
                "through": .integer(sequence), "head": Value(head(sequence)),
            ]
        default: return nil
        }
    }

    private static func page(_ samples: [Sample]) -> SamplePage {
        var page = SamplePage()
        page.types = Set(samples.map(\.type)).sorted()
        page.origins = [Origin(sourceName: "Watch")]
        for sample in samples {
            page.ids.append(SampleID(high: UInt64(sample.sequence), low: 7))
            page.sequence.append(sample.sequence)
            page.type.append(Int32(page.types.firstIndex(of: sample.type) ?? 0))
            page.start.append(sample.start.microseconds)
            page.end.append(sample.start.microseconds)
            page.value.append(1)
            page.origin.append(0)
            page.flags.append(sample.isDeleted ? .deleted : [])
        }
        return page
    }
}

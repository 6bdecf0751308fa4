import HealthModel

/// The observer: a slice, which is all samples in [from, to) as of a sequence.
package struct SliceRequest: Query {
    package typealias Answer = SlicePage
    package static let name = "slice"

    package var user: String
    package var types: TypeChoice
    package var asOf: AnchorVector
    package var from: Instant
    package var to: Instant
    /// Types whose metadata, payload, created and uuid are wanted.
    package var detailed: DetailedTypes?
    /// Types of which only the payload is wanted, for samples that have one.
    package var payloads: [String]?
    /// Maps a type to another: only those samples of the first that overlap one of the second are returned.
    package var during: [String: String]?
    /// Taken from the previous answer, to continue after it.
    @IfReadable package var `continue`: SlicePlace?
    package var predicate: Value?

    package init(
        user: String, types: TypeChoice, asOf: AnchorVector, from: Instant, to: Instant, detailed: DetailedTypes,
        payloads: [String] = [], during: [String: String] = [:], continue place: SlicePlace? = nil
    ) {
        (self.user, self.types, self.asOf, self.from, self.to, self.detailed) = (user, types, asOf, from, to, detailed)
        self.payloads = payloads.isEmpty ? nil : payloads
        self.during = during.isEmpty ? nil : during
        `continue` = place
    }
}

extension Query where Self == SliceRequest { package static func slice(_ slice: Self) -> Self { slice } }

/// Where an answer continues: after the sample that begins there and has this id.
package struct SlicePlace: Codable, Sendable, Equatable {
    package var start: Instant
    package var id: String

    package init(start: Instant, id: String) { (self.start, self.id) = (start, id) }
}

/// A list of types, or a choice.
package enum DetailedTypes: Sendable, Equatable {
    case list([String])
    case choice(TypeChoice)
}

extension DetailedTypes: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let choice = try? container.decode(TypeChoice.self) {
            self = .choice(choice)
        } else {
            self = .list(try container.decode([String].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .list(let types): try types.encode(to: encoder)
        case .choice(let choice): try choice.encode(to: encoder)
        }
    }
}

/// The samples of a slice, in canonical order.
package struct SlicePage: PageContent {
    package var samples: SamplePage
    /// Set on the last part if there are more rows.
    package var `continue`: SlicePlace?

    package init(samples: SamplePage, continue place: SlicePlace? = nil) {
        self.samples = samples
        `continue` = place
    }
}

import HealthModel

/// The observer: which sources its samples have, by user and type, and which of them a person has left out.
package struct SourcesQuery: Query {
    package typealias Answer = SourcesPage
    package static let name = "sources"

    @IfReadable package var user: String?
    @IfReadable package var `continue`: SequenceNumber?
}

extension Query where Self == SourcesQuery {
    package static func sources(user: String? = nil, after: SequenceNumber? = nil) -> Self {
        Self(user: user, continue: after)
    }
}

/// A source whose samples a person doesn't want to count.
package struct LeftOutSource: Codable, Sendable, Equatable {
    package var user: String
    /// Any name that the source has had.
    package var source: String
    /// HealthKit's identifier; nil for all types.
    package var type: String?
    /// Only samples that start then or later; nil for all.
    package var from: Instant?
    /// Whether its samples are still delivered, and only the figures are computed without them.
    package var figuresOnly: Bool?

    package init(
        user: String, source: String, type: String? = nil, from: Instant? = nil, figuresOnly: Bool? = nil
    ) {
        (self.user, self.source, self.type, self.from, self.figuresOnly) = (user, source, type, from, figuresOnly)
    }
}

/// Which sources the samples of a stretch of the store have; whoever asks adds the parts up.
package struct SourcesPage: PageContent, Equatable {
    package struct Row: Codable, Sendable, Equatable {
        package var user: String
        package var type: String
        package var source: String
        /// The product, as `Watch6,2`; empty if unknown.
        package var product: String
        package var samples: Int64
        package var firstStart: Instant
        package var lastStart: Instant

        package init(
            user: String, type: String, source: String, product: String, samples: Int64, firstStart: Instant,
            lastStart: Instant
        ) {
            (self.user, self.type, self.source, self.product, self.samples) = (user, type, source, product, samples)
            (self.firstStart, self.lastStart) = (firstStart, lastStart)
        }
    }

    package var sources: [Row]
    package var leftOut: [LeftOutSource]
    /// By user: the names of each source that has had several.
    package var names: [String: [[String]]]
    /// Set if there are more samples: the sequence after which they begin.
    package var `continue`: SequenceNumber?

    package init(
        sources: [Row], leftOut: [LeftOutSource], names: [String: [[String]]], continue place: SequenceNumber? = nil
    ) {
        (self.sources, self.leftOut, self.names) = (sources, leftOut, names)
        `continue` = place
    }
}

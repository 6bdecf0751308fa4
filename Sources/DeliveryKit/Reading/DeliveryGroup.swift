import HealthModel
import Protocol

/// Elements of one kind, of one user and for one path, to be delivered from fetched pages. Pure.
package struct DeliveryGroup: Sendable {
    package var metric: DeliveryMetric
    package var user: String
    package var content: Content
    package var batch: DeliveryBatch

    package enum Content: Sendable {
        case samples(SamplePage)
        /// Documents and tombstones, in the order of their changes.
        case workouts([Document])
        case nights([Document])
        case days([Document])
    }

    package struct Document: Sendable {
        /// A day's date.
        package var id: String
        package var version: Int64
        /// nil for a tombstone.
        package var body: Value?
        /// The day that the document belongs to, since 1970: for a night the one it ends on, for a workout the one it
        /// starts on; nil if it isn't known.
        package var day: Int?

        package init(id: String, version: Int64, body: Value?, day: Int? = nil) {
            (self.id, self.version, self.body, self.day) = (id, version, body, day)
        }
    }

    package init(metric: DeliveryMetric, user: String, content: Content, batch: DeliveryBatch) {
        (self.metric, self.user, self.content, self.batch) = (metric, user, content, batch)
    }
}

extension DeliveryGroup {
    /// A single element, in a group of its own.
    package func only(_ index: Int) -> DeliveryGroup {
        let content: Content =
            switch content {
            case .samples(let page): .samples(page.select([index]))
            case .workouts(let all): .workouts([all[index]])
            case .nights(let all): .nights([all[index]])
            case .days(let all): .days([all[index]])
            }
        return DeliveryGroup(metric: metric, user: user, content: content, batch: DeliveryBatch(count: 1))
    }

    /// The end times of those elements that ended no earlier than `first`; tombstones and days have no end.
    package func ends(_ part: Range<Int>, since first: Instant) -> [Instant] {
        switch content {
        case .samples(let page):
            part.filter { page.end[$0] >= first.microseconds && !page.flags[$0].contains(.deleted) }.map {
                page.endOf($0)
            }
        case .workouts(let all): ends(all[part], "endDate", first)
        case .nights(let all): ends(all[part], "end", first)
        case .days: []
        }
    }

    private func ends(_ documents: ArraySlice<Document>, _ member: String, _ first: Instant) -> [Instant] {
        documents.compactMap { $0.body?[member].string.flatMap { InstantText.parse($0) } }.filter { $0 >= first }
    }

    package var isSamples: Bool { if case .samples = content { true } else { false } }

    /// The number of elements.
    package var count: Int {
        switch content {
        case .samples(let page): page.count
        case .workouts(let all), .nights(let all), .days(let all): all.count
        }
    }

    /// The list in the request's body that an element goes into.
    package func list(_ index: Int) -> String {
        switch content {
        case .samples(let page): page.flags[index].contains(.deleted) ? "deleted" : "samples"
        case .workouts(let all): all[index].body == nil ? "deleted" : "workouts"
        case .nights(let all): all[index].body == nil ? "deletedNights" : "nights"
        case .days(let all): all[index].body == nil ? "deleted" : "days"
        }
    }

    /// Whether an element is a deletion.
    package func deletes(_ index: Int) -> Bool {
        switch content {
        case .samples(let page): page.flags[index].contains(.deleted)
        case .workouts(let all), .nights(let all), .days(let all): all[index].body == nil
        }
    }

    /// An element's id and version, for a dead letter.
    package func element(_ index: Int) -> (id: String, version: Int64) {
        switch content {
        case .samples(let page): (page.ids[index].description, page.sequence[index])
        case .workouts(let all), .nights(let all), .days(let all): (all[index].id, all[index].version)
        }
    }

    /// The index of the element that a letter is about; nil if it isn't in this group.
    package func place(of letter: DeadLetter) -> Int? {
        guard user == letter.user, metric.rawValue == letter.metric else { return nil }
        return batch.next?.first { element($0).id == letter.id }
    }
}

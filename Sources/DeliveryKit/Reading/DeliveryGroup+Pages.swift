import Changelog
import HealthModel
import Protocol
import StageKit

extension DeliveryGroup {
    /// The elements to deliver from a producer's pages.
    /// - Parameters:
    ///   - isSamples: whether the pages contain samples rather than rows of a keyed changelog.
    ///   - family: the metric under which a type's samples are delivered; nil for those that aren't.
    package static func groups(
        _ pages: [Value], from upstream: String, isSamples: Bool, family: (String) -> DeliveryMetric?
    ) throws -> [DeliveryGroup] {
        isSamples
            ? try groups(samples: try pages.map { try $0.page(from: upstream) }, from: upstream, family: family)
            : try groups(documents: try pages.map { try $0.page(from: upstream) }, from: upstream)
    }

    /// Splits pages of samples by user and by the metric family that declares their type.
    package static func groups(
        samples pages: [SamplesPage], from upstream: String, family: (String) -> DeliveryMetric?
    ) throws -> [DeliveryGroup] {
        var groups: [DeliveryGroup] = []
        for page in pages {
            guard page.isOwned else { throw StageError.unreadablePage(producer: upstream) }
            let (samples, users, user) = (page.samples, page.users, page.user)
            for part in parts(of: samples, user, samples.types.map(family)) {
                // Most pages contain samples of one type and one user, and are used as they are. A part doesn't contain
                // names that only the other parts use.
                let selected = samples.keeping(part.rows)
                groups.take([
                    DeliveryGroup(
                        metric: part.metric, user: users[Int(part.user)], content: .samples(selected),
                        batch: DeliveryBatch(count: selected.count))
                ])
            }
        }
        return groups
    }

    /// Rows of one user and one metric.
    private struct Part {
        let user: Int32
        let metric: DeliveryMetric
        var rows: [Int] = []

        var key: String { "\(user)/\(metric.rawValue)" }
    }

    /// - Parameter metrics: the metrics of the page's types.
    private static func parts(of page: SamplePage, _ user: [Int32], _ metrics: [DeliveryMetric?]) -> [Part] {
        var parts: [Part] = []
        // Parts are found by user and type. Neighbouring rows mostly belong to the same part.
        var places: [Int64: Int] = [:]
        var (last, place) = (Int64.min, 0)
        // Quarantined samples are stored, but not delivered.
        for row in 0..<page.count where page.flags[row].contains(.deleted) || !page.flags[row].contains(.quarantined) {
            let key = Int64(user[row]) << 32 | Int64(page.type[row])
            if key != last {
                last = key
                guard let metric = metrics[Int(page.type[row])] else {
                    place = -1
                    continue
                }
                place =
                    places[key] ?? parts.firstIndex { $0.user == user[row] && $0.metric == metric } ?? parts.count
                places[key] = place
                if place == parts.count { parts.append(Part(user: user[row], metric: metric)) }
            }
            if place >= 0 { parts[place].rows.append(row) }
        }
        return parts.sorted { $0.key < $1.key }
    }

    /// Groups rows of a keyed changelog (events, summaries) by user and kind.
    package static func groups(documents pages: [ChangesPage], from upstream: String) throws -> [DeliveryGroup] {
        var byKind: [String: (user: String, list: DocumentList, documents: [Document])] = [:]
        for row in pages.flatMap(\.rows) {
            guard let id = row.key.split(separator: "/").last else {
                throw StageError.unreadablePage(producer: upstream)
            }
            let body = DeliveryDocument.body(of: row)
            // A row without members can't be sent.
            if let body, body.object == nil { continue }
            for list in row.lists {
                byKind["\(row.user)/\(list.rawValue)", default: (row.user, list, [])].documents
                    .append(Document(id: String(id), version: row.sequence.value, body: body, day: row.day))
            }
        }
        return byKind.sorted { $0.key < $1.key }.map { _, found in
            let (metric, content): (DeliveryMetric, Content) =
                switch found.list {
                case .days: (.daily, .days(found.documents))
                case .nights: (.sleep, .nights(found.documents))
                case .workouts: (.workouts, .workouts(found.documents))
                }
            return DeliveryGroup(
                metric: metric, user: found.user, content: content, batch: DeliveryBatch(count: found.documents.count))
        }
    }
}

extension [DeliveryGroup] {
    /// Adds groups of which no part has been sent yet; samples of the same user and metric are merged.
    package mutating func take(_ others: [DeliveryGroup]) {
        for other in others {
            guard case .samples(let page) = other.content,
                let index = firstIndex(where: { $0.user == other.user && $0.metric == other.metric }),
                case .samples(var merged) = self[index].content
            else {
                append(other)
                continue
            }
            // The page must be referenced only here, so that it grows in place.
            self[index].content = .samples(SamplePage())
            merged.append(page)
            self[index].batch = DeliveryBatch(count: merged.count)
            self[index].content = .samples(merged)
        }
    }
}

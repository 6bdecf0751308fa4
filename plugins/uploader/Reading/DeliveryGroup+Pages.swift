import Changelog
import HealthModel
import Protocol
import StageKit

extension DeliveryGroup {
    /// What is delivered of a producer's pages.
    /// - Parameters:
    ///   - isSamples: whether they are pages of samples, or of a keyed changelog.
    ///   - family: under which metric a type's samples go.
    package static func groups(
        _ pages: [Value], from upstream: String, isSamples: Bool, family: (String) -> UploadMetric
    ) throws -> [DeliveryGroup] {
        isSamples
            ? try groups(samples: try pages.map { try $0.page(from: upstream) }, from: upstream, family: family)
            : try groups(documents: try pages.map { try $0.page(from: upstream) }, from: upstream)
    }

    /// Pages of samples by user and by the metric family that declares their type.
    package static func groups(
        samples pages: [SamplesPage], from upstream: String, family: (String) -> UploadMetric
    ) throws -> [DeliveryGroup] {
        var groups: [DeliveryGroup] = []
        for page in pages {
            guard page.isOwned else { throw StageError.unreadablePage(producer: upstream) }
            let (samples, users, user) = (page.samples, page.users, page.user)
            let metrics = samples.types.map(family)
            var rows: [String: (user: Int32, metric: UploadMetric, rows: [Int])] = [:]
            // What is quarantined is kept, not delivered: elements are what is sent.
            for row in 0..<samples.count
            where samples.flags[row].contains(.deleted) || !samples.flags[row].contains(.quarantined) {
                let metric = metrics[Int(samples.type[row])]
                rows["\(user[row])/\(metric.rawValue)", default: (user[row], metric, [])].rows.append(row)
            }
            for (_, part) in rows.sorted(by: { $0.key < $1.key }) {
                // Most pages hold one type of one user: those go as they are.
                let selected = part.rows.count == samples.count ? samples : samples.select(part.rows)
                let name = users[Int(part.user)]
                if let index = groups.firstIndex(where: { $0.user == name && $0.metric == part.metric }),
                    case .samples(var merged) = groups[index].content
                {
                    merged.append(selected)
                    groups[index].content = .samples(merged)
                    groups[index].batch = UploadBatch(count: merged.count)
                } else {
                    groups.append(
                        DeliveryGroup(
                            metric: part.metric, user: name, content: .samples(selected),
                            batch: UploadBatch(count: selected.count)))
                }
            }
        }
        return groups
    }

    /// Rows of a keyed changelog (events, summaries) by user and kind.
    package static func groups(documents pages: [ChangesPage], from upstream: String) throws -> [DeliveryGroup] {
        var byKind: [String: (user: String, list: DocumentList, documents: [Document])] = [:]
        for row in pages.flatMap(\.rows) {
            guard let id = row.key.split(separator: "/").last else {
                throw StageError.unreadablePage(producer: upstream)
            }
            let body = UploadDocument.body(of: row)
            // Of what has no members nothing can be sent.
            if let body, body.object == nil { continue }
            for list in row.lists {
                byKind["\(row.user)/\(list.rawValue)", default: (row.user, list, [])].documents
                    .append(Document(id: String(id), version: row.sequence.value, body: body))
            }
        }
        return byKind.sorted { $0.key < $1.key }.map { _, found in
            let (metric, content): (UploadMetric, Content) =
                switch found.list {
                case .days: (.daily, .days(found.documents))
                case .nights: (.sleep, .nights(found.documents))
                case .workouts: (.workouts, .workouts(found.documents))
                }
            return DeliveryGroup(
                metric: metric, user: found.user, content: content, batch: UploadBatch(count: found.documents.count))
        }
    }
}

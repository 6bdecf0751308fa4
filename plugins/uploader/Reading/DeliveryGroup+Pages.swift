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
            ? try groups(samples: pages, from: upstream, family: family) : try groups(documents: pages, from: upstream)
    }

    /// Pages of samples by user and by the metric family that declares their type.
    package static func groups(
        samples pages: [Value], from upstream: String, family: (String) -> UploadMetric
    ) throws -> [DeliveryGroup] {
        var groups: [DeliveryGroup] = []
        for page in pages {
            let samples = try SamplePage(wireValue: page["samples"])
            let users = (page["users"].array ?? []).compactMap(\.string)
            guard let user = page["user"].int32s, user.count == samples.count,
                user.allSatisfy({ users.indices.contains(Int($0)) })
            else { throw StageError.unreadablePage(producer: upstream) }
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
    package static func groups(documents pages: [Value], from upstream: String) throws -> [DeliveryGroup] {
        var byKind: [String: (user: String, topic: String, documents: [Document])] = [:]
        for page in pages {
            for value in page["rows"].array ?? [] {
                guard let row = KeyedChangelog.Row(wireValue: value), let id = row.key.split(separator: "/").last else {
                    throw StageError.unreadablePage(producer: upstream)
                }
                let body = UploadDocument.body(of: row)
                // Of what has no members nothing can be sent.
                if let body, body.object == nil { continue }
                byKind["\(row.user)/\(row.topic)", default: (row.user, row.topic, [])].documents
                    .append(Document(id: String(id), version: row.sequence, body: body))
            }
        }
        return byKind.sorted { $0.key < $1.key }.map { _, kind in
            let (metric, content): (UploadMetric, Content) =
                switch kind.topic {
                case "daily.summary": (.daily, .days(kind.documents))
                case "events.sleep": (.sleep, .nights(kind.documents))
                default: (.workouts, .workouts(kind.documents))
                }
            return DeliveryGroup(
                metric: metric, user: kind.user, content: content, batch: UploadBatch(count: kind.documents.count))
        }
    }
}

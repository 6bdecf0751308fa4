import DeliveryKit
import HealthModel
import Logging
import PostgresStore

extension PostgresWriter {
    /// Bodies may be long.
    private static let documentsAtOnce = 500

    /// What the tables hold of one list of a user, a page at a time.
    func held(_ question: HeldQuestion) -> HeldReply {
        do {
            let kind = Self.kind(of: question.list)
            let limit = kind == nil ? question.limit : min(question.limit, Self.documentsAtOnce)
            let (rows, generation) = try open(refresh: question.refreshToken).versions(of: question.user) { kept in
                if let kind {
                    try kept.documents(kind, after: question.cursor ?? "", limit: limit)
                } else {
                    try kept.samples(
                        after: question.cursor.flatMap { SampleID($0) } ?? question.after, limit: limit)
                }
            }
            return .page(
                HeldPage(
                    rows: rows.map {
                        HeldPage.Row(
                            named: $0.id,
                            held: HeldVersion(
                                version: $0.version, isDeleted: $0.isDeleted, content: $0.isDeleted ? nil : $0.content))
                    }, next: rows.count < limit ? nil : rows.last?.id, generation: generation,
                    // Documents come in the order of their ids' bytes, whether or not they are UUIDs.
                    isOrdered: kind == nil))
        } catch let error as Failure {
            return .later("\(error)")
        } catch {
            let problem = forget(after: error)
            return problem.isOfPassword ? .refusesToken(problem.text) : .later(problem.text)
        }
    }

    private static func kind(of list: HeldList) -> PostgresDocument.Kind? {
        switch list {
        case .samples: nil
        case .workouts: .workout
        case .nights: .night
        case .days: .day
        }
    }
}

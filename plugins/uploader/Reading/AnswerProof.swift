import DeliveryKit
import HealthModel

/// What an answer proves. Pure.
package enum AnswerProof: Sendable, Equatable {
    /// Everything sent is accounted for by the known backend, or by one that identifies itself now.
    case proven
    /// A server that never identifies itself has accepted the elements, and this is trusted because nothing better is
    /// available.
    case onTrust
    /// The answer accounts for everything, but its generation differs from the known backend's.
    case otherBackend(String)
    /// The known backend has forgotten requests that it had answered: an older copy was restored.
    case rolledBack(to: Int64)
    /// The answer names elements that it refuses, and proves nothing else.
    case refusals
    /// The answer has refusals in an unknown form.
    case unreadableRefusals
    /// The answer may come from any server: nothing is accepted, nothing is refused. With the human-readable reason.
    case unproven(String)
    /// Its status says it all.
    case status

    /// - Parameters:
    ///   - sent: how many elements the request contained.
    ///   - seen: what was known about the backend when the request was sent; answers come out of order.
    package init(status: Int, contentType: String?, answer: UploadAnswer, sent: Int, seen: SeenBackend) {
        switch status {
        case 200..<300: self = Self.accepted(status, contentType, answer, sent, seen)
        case 400, 422:
            if answer.form == .json, answer.generation != nil, answer.counts != nil {
                self = Self.accepted(status, contentType, answer, sent, seen)
            } else if answer.form == .json, !answer.areRefusalsReadable {
                self = .unreadableRefusals
            } else if answer.form == .json, !answer.refused.isEmpty {
                self = .refusals
            } else if seen.generation != nil, answer.form == .other || Self.isPage(contentType, answer) {
                self = .unproven("something answered \(status) that isn't the backend\(Self.kind(contentType))")
            } else {
                self = .status
            }
        case 400..<500 where !Self.saysNothingOfElements.contains(status):
            // A body that names refusals is trusted, whatever else the answer lacks.
            self =
                answer.form == .json && answer.areRefusalsReadable && !answer.refused.isEmpty ? .refusals : .status
        default: self = .status
        }
    }

    /// Statuses that concern the sender, the address or the time.
    private static let saysNothingOfElements: Set<Int> = [401, 403, 404, 405, 407, 408, 425, 429]

    private static func accepted(
        _ status: Int, _ contentType: String?, _ answer: UploadAnswer, _ sent: Int, _ seen: SeenBackend
    ) -> AnswerProof {
        if isPage(contentType, answer) {
            return .unproven("something answered \(status) with a page for people: it isn't the backend")
        }
        guard answer.form != .other else {
            return .unproven(
                "something answered \(status) without JSON\(kind(contentType)): a backend answers with JSON, or an empty body"
            )
        }
        guard answer.areRefusalsReadable else { return .unreadableRefusals }
        let addsUp =
            answer.areCountsReadable
            && answer.counts.map { $0.accounts(for: sent) && $0.refused == Int64(answer.refused.count) } ?? true
        if let generation = answer.generation, answer.counts != nil {
            guard addsUp else { return doubt(shortCounts(status), answer) }
            guard let known = seen.generation else { return .proven }
            guard known == generation else { return .otherBackend(generation) }
            if let before = seen.sequence, let now = answer.sequence, now < before { return .rolledBack(to: now) }
            return .proven
        }
        if seen.generation != nil {
            return doubt("something answered \(status) without the backend's generation and counts", answer)
        }
        if let word = answer.failure {
            return doubt(
                "the backend answered \(status), and reports failure ('\(word)') in a form that can't be understood",
                answer)
        }
        return addsUp ? .onTrust : doubt(shortCounts(status), answer)
    }

    /// Nothing is accepted; but elements named as refused are refused.
    private static func doubt(_ why: String, _ answer: UploadAnswer) -> AnswerProof {
        answer.refused.isEmpty ? .unproven(why) : .refusals
    }

    private static func shortCounts(_ status: Int) -> String {
        "the backend answered \(status), and its counts don't match what was sent"
    }

    /// Whether the answer is HTML that isn't empty. (Some servers label an empty body as HTML too.)
    private static func isPage(_ contentType: String?, _ answer: UploadAnswer) -> Bool {
        guard answer.form != .empty, let type = contentType?.lowercased() else { return false }
        return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml")
    }

    /// Text from another server, of which only the beginning is shown.
    private static func kind(_ contentType: String?) -> String {
        guard let type = contentType?.split(separator: ";").first?.prefix(40),
            type.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "" }
        return " (\(type))"
    }
}

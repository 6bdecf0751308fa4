import DeliveryKit
import HTTP
import HealthModel

/// What a FHIR server's answer means for the elements of a transaction. Pure.
package enum FHIRAnswer {
    /// - Parameters:
    ///   - overtaken: the elements of the part that weren't sent, because newer versions of them were or because they
    ///     have no resource.
    ///   - url: what was requested.
    package static func reply(
        _ response: HTTPResponse, to transaction: FHIRTransaction, overtaken: Set<Int> = [], url: String
    ) -> DeliveryReply {
        let status = response.status
        guard (200..<300).contains(status) else { return .failed(failure(response, url: url)) }
        let bundle = json(response.body) ?? .null
        let entries = bundle["entry"].array ?? []
        let isWhole = bundle["type"] == "transaction-response" && entries.count == transaction.methods.count
        // Any of the elements may be the cause of an error that isn't in an entry of its own.
        let outcomes = isWhole ? [] : [FHIROutcome(answer: bundle)] + entries.lazy.map { FHIROutcome(entry: $0) }
        if let outcome = outcomes.lazy.compactMap({ $0 }).first(where: \.isError),
            let failure = failure(of: outcome, status, "the server answered \(status)")
        {
            return .failed(failure)
        }
        guard bundle["resourceType"] == "Bundle" else {
            return .unproven("something answered \(status) that isn't a FHIR bundle")
        }
        guard bundle["type"] == "transaction-response" else {
            return .unproven("the server answered \(status), but not to a transaction")
        }
        guard isWhole else {
            return .unproven(
                "the server answered \(status) with \(entries.count) entries for \(transaction.methods.count)")
        }
        var counts = DeliveryAnswer.Counts(known: Int64(overtaken.count))
        for (entry, method) in zip(entries, transaction.methods) {
            let outcome = FHIROutcome(entry: entry)
            guard let code = code(entry["response"]["status"]) else {
                let why = "the server answered \(status), with an entry without a status"
                return outcome.flatMap { failure(of: $0, status, why) }.map { .failed($0) } ?? .unproven(why)
            }
            let why = "the server answered \(status), with an entry of status \(code)"
            // An element to be deleted may never have been on the server.
            let isGone = method == .delete && (isAbsent(code) || outcome?.verdict == .absent)
            let isDone = (200..<300).contains(code)
            let reported = outcome?.reported ?? ""
            if !isGone, !isDone, let refusal = refusal(code, reported) {
                return .failed(.init(refusal, why: why + reported, status: code))
            }
            if !isGone, let outcome, let failure = failure(of: outcome, code, why) { return .failed(failure) }
            guard isGone || isDone else { return .unproven(why) }
            switch method {
            case .createPatient: break
            case .put where code == 201: counts.created += 1
            case .put, .delete: counts.updated += 1
            }
        }
        // A FHIR server doesn't identify its database.
        return .onTrust(DeliveryAnswer(counts: counts, status: status, overtaken: overtaken))
    }

    /// What a failed entry in a successful answer means: a transaction should take effect as a whole or not at all, so
    /// such a server breaks the rules; but one of the elements is the cause, and is found by halving.
    private static func refusal(_ code: Int, _ reported: String) -> RetryPolicy.Outcome? {
        switch code {
        case 400, 412, 422: .refused("the server refuses it (\(code)\(reported))")
        case 500: .failing
        case 501...: .later()
        default: nil
        }
    }

    /// What an outcome means for what it is about; nil if that is accepted.
    private static func failure(of outcome: FHIROutcome, _ status: Int, _ why: String) -> DeliveryReply.Failure? {
        let error = "\(why) and an error\(outcome.reported)"
        return switch outcome.verdict {
        case .fine: nil
        case .refusal, .absent:
            .init(.refused("the server refuses it (\(status)\(outcome.reported))"), why: error, status: status)
        case .failing: .init(.failing, why: error, status: status)
        case .unreadable: .init(.failing, why: "\(why) and an outcome that can't be understood", status: status)
        }
    }

    private static func isAbsent(_ status: Int) -> Bool { status == 404 || status == 410 }

    /// Whether a resource that was to be deleted is no longer there.
    static func isDeleted(_ response: HTTPResponse) -> Bool {
        if isAbsent(response.status) { return true }
        guard (200..<300).contains(response.status) else { return false }
        return json(response.body).flatMap { FHIROutcome(answer: $0) }.map { [.fine, .absent].contains($0.verdict) }
            ?? true
    }

    /// Whether an answer says nothing about what was asked, only about the server's state at the moment, or comes from
    /// something else.
    static func isPassing(_ response: HTTPResponse) -> Bool {
        switch response.status {
        case 401, 408, 425, 429, 500...: return true
        case 200..<300 where !response.body.isEmpty:
            guard let answer = json(response.body) else { return true }
            return FHIROutcome(answer: answer)?.verdict == .failing
        default: return false
        }
    }

    static func json(_ body: [UInt8]) -> Value? {
        // Anything that isn't JSON isn't the server's answer, so nothing more can be learned from it.
        try? Value(json: body)
    }

    /// The number at the beginning of `201 Created`.
    private static func code(_ status: Value) -> Int? { status.string.flatMap { Int($0.prefix(3)) } }

    package static func failure(_ response: HTTPResponse, url: String) -> DeliveryReply.Failure {
        let status = response.status
        let reported = json(response.body).flatMap { FHIROutcome($0) }?.reported ?? ""
        let why = "the server answered \(status)\(reported)"
        let outcome: RetryPolicy.Outcome =
            switch status {
            case 400, 412, 422: .refused("the server refuses it (\(status)\(reported))")
            case 413: .refused("the server accepts no transaction of this size (413)")
            case 401: .refusesToken(isFinal: false, unauthorized)
            case 403: .refusesToken(isFinal: true, unauthorized)
            case 409: .conflict("the server keeps answering 409 (a conflict)")
            case 429, 503: .later(response.headers["Retry-After"].flatMap { RetryAfter.wait($0) })
            // Some servers answer this way because they can't store one of the resources.
            case 500: .failing
            case 408, 425, 501...: .later()
            case 300..<400: .needsPerson(redirected(response, url))
            default: .needsPerson(wrongServer)
            }
        return .init(outcome, why: why, status: status)
    }

    static let unauthorized = RetryPolicy.Pause(
        remedy: "it refuses the token: put the right one into the file named by 'tokenFile', or into "
            + "HEALTHBUS_FHIR_TOKEN")
    static let wrongServer = RetryPolicy.Pause(
        remedy: "that isn't a FHIR server that takes transactions: check 'server'")

    private static func redirected(_ response: HTTPResponse, _ url: String) -> RetryPolicy.Pause {
        guard let location = response.headers["Location"],
            case .elsewhere(let origin) = HTTPRedirect(location: location, from: url)
        else { return wrongServer }
        let plain = String(
            decoding: origin.utf8.prefix(200).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self)
        return .init(
            remedy:
                "it redirects to \(plain), and the token isn't sent there: if that server is yours, set 'server' to it")
    }

    // MARK: What the server is

    /// A FHIR server can't say which of our data it holds; it is only asked to describe itself, so that a wrong address
    /// or token is noticed.
    ///
    /// - Parameter givesIDs: whether resources have ids chosen by us, which the server must allow.
    package static func holdings(_ response: HTTPResponse, givesIDs: Bool = false) -> HoldingsReply {
        let status = response.status
        if status == 401 || status == 403 {
            return .refusesToken("the server answered \(status); \(unauthorized.remedy)")
        }
        guard status == 200, let statement = json(response.body),
            statement["resourceType"] == "CapabilityStatement"
        else {
            return .later(
                "the server answered \(status) to /metadata without saying that it is a FHIR server; "
                    + "check 'server'", response.headers["Retry-After"].flatMap { RetryAfter.wait($0) })
        }
        let version = statement["fhirVersion"].string ?? ""
        guard version.isEmpty || version.hasPrefix("4.") else {
            return .later("the server speaks a release of FHIR other than R4; name one that speaks R4")
        }
        if givesIDs, let why = refusesIDs(statement) { return .later(why) }
        return .silent("a FHIR server doesn't say what it holds")
    }

    /// Why resources can't have our ids there; nil unless the server says that they can't. (Many leave it out.)
    private static func refusesIDs(_ statement: Value) -> String? {
        let resources = (statement["rest"].array ?? []).flatMap { $0["resource"].array ?? [] }
        guard resources.contains(where: { $0["type"] == "Observation" && $0["updateCreate"] == false }) else {
            return nil
        }
        return "the server says (updateCreate) that it doesn't create resources under ids of ours; leave out "
            + "'\"ids\": \"client\"', or have the server allow it"
    }
}

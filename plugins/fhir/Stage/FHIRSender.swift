import DeliveryKit
import Foundation
import HTTP
import HealthResources
import StageKit

/// Where a FHIR server is: requests go to its base URL, and to paths below it.
package struct FHIRServer: Sendable {
    /// Without a path.
    package let origin: String
    /// Where transactions go, with or without a slash at its end, as configured: "/fhir".
    let base: String
    /// The prefix of the paths below it: "/fhir"; empty for a server without a prefix.
    let prefix: String

    /// The same text whether or not the URL ends with slashes.
    var text: String { origin + prefix }

    /// - Parameter url: http or https; the client checks the rest.
    package init(_ url: String) {
        let path = URLComponents(string: url)?.percentEncodedPath ?? ""
        origin = String(url.dropLast(path.count))
        base = path.isEmpty ? "/" : path
        var prefix = path
        while prefix.hasSuffix("/") { prefix.removeLast() }
        self.prefix = prefix
    }
}

/// Sends transactions one after the other, so that a newer version never overtakes an older one.
package final class FHIRSender {
    /// Sends a request, and waits for its answer.
    package typealias Exchange = (HTTPRequest) throws -> HTTPResponse

    private let exchange: Exchange
    let server: FHIRServer
    /// nil if the server requires none.
    private let token: TokenSource?
    let form: FHIRForm
    private var sent = SentVersions()

    /// - Parameter exchange: throws an `HTTPError` if there is no answer.
    package init(server: FHIRServer, token: TokenSource?, form: FHIRForm, exchange: @escaping Exchange) {
        (self.server, self.token, self.form, self.exchange) = (server, token, form, exchange)
    }

    /// Carries out an effect, and returns its result; nil for an unknown effect.
    package func perform(_ effect: Effect) -> (any Sendable)? {
        if let request = effect.request as? DeliveryRequest { return put(request) }
        if let question = effect.request as? HoldingsRequest {
            return metadata(refreshesToken: question.refreshToken)
        }
        if let question = effect.request as? HeldQuestion { return held(question) }
        return nil
    }

    private func put(_ request: DeliveryRequest) -> DeliveryReply {
        // With nothing to send, this only checks whether the server answers: some servers treat a transaction without
        // entries as an error.
        guard !request.part.isEmpty else { return probe(request) }
        guard !form.patients.isTaken(by: request.group.user) else {
            return .needsPerson("two people have the same identifier there; give each their own in 'patients'")
        }
        var chosen = sent.select(request)
        // These are settled without a request too.
        chosen.leaveOut { !FHIRTransaction.has($0, of: request.group) }
        let known = DeliveryAnswer.Counts(known: Int64(chosen.overtaken.count))
        guard !chosen.rows.isEmpty else {
            return .overtaken(DeliveryAnswer(counts: known, overtaken: chosen.overtaken))
        }
        let transaction = FHIRTransaction(request.group, chosen.rows, form)
        let post = HTTPRequest(
            method: "POST", path: server.base,
            headers: ["Content-Type": "application/fhir+json", "Prefer": "return=minimal"], body: transaction.body)
        do {
            var response = try send(post, request.refreshToken)
            if response.status == 412, let last = try removeDuplicates(transaction) {
                response = FHIRAnswer.isPassing(last) ? last : try send(post, false)
            }
            let reply = FHIRAnswer.reply(
                response, to: transaction, overtaken: chosen.overtaken, url: server.origin + server.base)
            if case .onTrust = reply { sent.accept(request, chosen.rows) }
            return reply
        } catch let error as HTTPError {
            return .failed(Self.failure(error))
        } catch {
            return .needsPerson("\(error)")
        }
    }

    /// Leaves only one of the resources that an element has on the server, so that it can be updated or deleted again.
    /// - Returns: the last answer, if all others are deleted, or if they can't be at the moment; nil if there are none, or
    ///   the server deletes none.
    private func removeDuplicates(_ transaction: FHIRTransaction) throws -> HTTPResponse? {
        guard !form.givesIDs, transaction.identifiers.count == 1, let identifier = transaction.identifiers.first else {
            return nil
        }
        let path = server.prefix + "/Observation"
        var last = try send(HTTPRequest(path: path, query: ["identifier": identifier.token]), false)
        guard !FHIRAnswer.isPassing(last) else { return last }
        let superfluous = FoundResources.superfluous(last, of: identifier)
        for id in superfluous {
            last = try send(HTTPRequest(method: "DELETE", path: path + "/" + id), false)
            guard !FHIRAnswer.isPassing(last) else { return last }
            guard FHIRAnswer.isDeleted(last) else { return nil }
        }
        return superfluous.isEmpty ? nil : last
    }

    private func probe(_ request: DeliveryRequest) -> DeliveryReply {
        switch metadata(refreshesToken: request.refreshToken) {
        case .holds, .silent: .onTrust(DeliveryAnswer(counts: .init()))
        case .later(let why, _), .refusesToken(let why): .unproven(why)
        }
    }

    private func metadata(refreshesToken: Bool) -> HoldingsReply {
        do {
            return FHIRAnswer.holdings(
                try send(HTTPRequest(path: server.prefix + "/metadata"), refreshesToken), givesIDs: form.givesIDs)
        } catch {
            return .later("\(error)")
        }
    }

    private static func failure(_ error: HTTPError) -> DeliveryReply.Failure {
        .init(
            error.kind == .invalidRequest ? .needsPerson(FHIRAnswer.wrongServer) : .unproven,
            why: error.description)
    }

    func send(_ request: HTTPRequest, _ refreshesToken: Bool) throws -> HTTPResponse {
        var request = request
        request.headers["Accept"] = "application/fhir+json"
        if let token {
            request.headers["Authorization"] = try token.current(refresh: refreshesToken).map { "Bearer \($0)" }
        }
        return try exchange(request)
    }
}

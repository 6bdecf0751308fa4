import DeliveryKit
import Foundation
import HTTP
import StageKit
import UploaderReading

/// Where a FHIR server is: requests go to its base itself, and to paths below it.
package struct FHIRServer: Sendable {
    /// Without a path.
    package let origin: String
    /// "/fhir"; empty for a server without a prefix.
    let prefix: String

    /// - Parameter url: http or https; the client checks the rest.
    package init(_ url: String) {
        var base = url
        while base.hasSuffix("/") { base.removeLast() }
        let path = URLComponents(string: base)?.percentEncodedPath ?? ""
        prefix = path
        origin = String(base.dropLast(path.count))
    }
}

/// Sends transactions over one connection, one after the other, so that a newer version never overtakes an older one.
package final class FHIRSender {
    private let client: HTTPClient
    private let server: FHIRServer
    /// nil: the server wants none.
    private let token: TokenSource?
    private let form: FHIRForm
    private let timeout: Double
    private var sent = SentVersions()

    package init(client: HTTPClient, server: FHIRServer, token: TokenSource?, form: FHIRForm, timeout: Double) {
        self.client = client
        self.server = server
        self.token = token
        self.form = form
        self.timeout = timeout
    }

    /// Carries out an effect, and returns its result; nil for an unknown effect.
    package func perform(_ effect: Effect) -> (any Sendable)? {
        if let request = effect.request as? UploadRequest { return put(request) }
        if let question = effect.request as? HoldingsRequest {
            return metadata(refreshesToken: question.refreshToken)
        }
        return nil
    }

    private func put(_ request: UploadRequest) -> DeliveryReply {
        let rows = sent.take(request.group, request.part)
        let leftOut = request.part.count - rows.count
        guard !rows.isEmpty else { return probe(request, leftOut: leftOut) }
        let transaction = FHIRTransaction(request.group, rows, form)
        let path = server.prefix.isEmpty ? "/" : server.prefix
        let post = HTTPRequest(
            method: "POST", path: path,
            headers: ["Content-Type": "application/fhir+json", "Prefer": "return=minimal"], body: transaction.body)
        do {
            let response = try send(post, request.refreshToken)
            return FHIRAnswer.reply(response, to: transaction, leftOut: leftOut, url: server.origin + path)
        } catch let error as HTTPError {
            return .failed(Self.failure(error))
        } catch {
            return .needsPerson("\(error)")
        }
    }

    /// With nothing to send, only whether the server answers is to be found out: nothing is accepted unseen, and a
    /// transaction without entries is an error at some servers.
    private func probe(_ request: UploadRequest, leftOut: Int) -> DeliveryReply {
        switch metadata(refreshesToken: request.refreshToken) {
        case .holds, .silent: .onTrust(DeliveryAnswer(counts: .init(known: Int64(leftOut))))
        case .later(let why, _), .refusesToken(let why): .unproven(why)
        }
    }

    private func metadata(refreshesToken: Bool) -> HoldingsReply {
        do {
            return FHIRAnswer.holdings(
                try send(HTTPRequest(path: server.prefix + "/metadata"), refreshesToken))
        } catch {
            return .later("\(error)")
        }
    }

    private static func failure(_ error: HTTPError) -> DeliveryReply.Failure {
        .init(
            error.kind == .invalidRequest ? .needsPerson(FHIRAnswer.wrongServer) : .unproven,
            why: error.description)
    }

    private func send(_ request: HTTPRequest, _ refreshesToken: Bool) throws -> HTTPResponse {
        var request = request
        request.headers["Accept"] = "application/fhir+json"
        if let token {
            request.headers["Authorization"] = "Bearer \(try token.current(refresh: refreshesToken))"
        }
        return try client.send(request, timeout: timeout, redirects: HTTPClient.usualRedirects)
    }
}

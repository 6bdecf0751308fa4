import Configuration
import DeliveryKit
import FHIRStage
import HTTP
import HealthModel
import Simulation
import StageKit
import Testing

/// A FHIR server in memory, behind a network that fails, and asked by the plugin's own sender.
final class FHIRModel: DestinationModel {
    private static let origin = "http://127.0.0.1:1"
    private static let base = "/fhir"
    private static let token = "secret"
    static let url = origin + base

    private unowned let stack: SimulatedStack
    private let instance: StackConfiguration.Instance
    private var server = FHIRServerModel(base: base, token: token)
    /// What it was at the last `rollBack`.
    private var before: FHIRServerModel?
    var failureRate = 0.0
    private var isBusy = false
    /// The current process sends one request after the other; the first of these is under way.
    private var line: (life: Int, sender: FHIRSender, effects: [Effect])?
    /// How long the effect that is being performed takes.
    private var delay = Duration.zero

    init(in stack: SimulatedStack) throws {
        self.stack = stack
        instance = try #require(stack.configuration.instances.first { $0.manifest.name == "fhir" })
    }

    private var world: SimulatedWorld { stack.world }

    func perform(_ effect: Effect, of host: SimulatedHost) {
        isBusy = true
        if line?.life != host.lives { line = (host.lives, sender(), []) }
        line?.effects.append(effect)
        if line?.effects.count == 1 { begin(host) }
    }

    private func sender() -> FHIRSender {
        FHIRSender(
            server: FHIRServer(Self.url),
            token: .declared(by: instance, environment: ["HEALTHBUS_FHIR_TOKEN": Self.token]),
            form: FHIRForm(of: instance, in: stack.configuration)
        ) { [unowned self] in try answer($0) }
    }

    private func begin(_ host: SimulatedHost) {
        guard let (life, sender, effects) = line, life == host.lives, host.isRunning, let effect = effects.first else {
            return
        }
        delay = .zero
        let result = sender.perform(effect).map { EffectResult(id: effect.id, value: $0) }
        if let result { world.schedule(.effect(host, life: life, result), after: delay) }
        world.schedule(
            .action { [unowned self] in
                guard line?.life == life else { return }
                line?.effects.removeFirst()
                begin(host)
            }, after: delay)
    }

    // MARK: The network

    /// What happens to a request.
    private enum Mishap: CaseIterable {
        case noConnection, answerLost, answerCut, unavailable, failing, tokenRefused, tooMany, failingOutcome
        case refusedOutcome, page, late, sentTwice, doubled
    }

    private static func lost(_ kind: HTTPError.Kind) -> HTTPError {
        HTTPError(kind, endpoint: "fhir", detail: "no answer", hint: "wait")
    }

    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        delay += world.time(microseconds: 500...20_000)
        if stack.isTokenRefused { return FHIRServerModel.outcome(401, "login") }
        guard world.chance(failureRate) else { return server.answer(request) }
        let mishaps = Mishap.allCases
        switch mishaps[world.pick(0...mishaps.count - 1)] {
        case .noConnection: throw Self.lost(.connectionRefused)
        case .answerLost:
            _ = server.answer(request)
            delay += world.time(microseconds: 100_000...2_000_000)
            throw Self.lost(.timedOut)
        case .answerCut:
            var response = server.answer(request)
            response.body = Array(response.body.prefix(response.body.count / 2))
            return response
        case .unavailable: return HTTPResponse(status: 503, headers: ["Retry-After": "1"])
        case .failing: return HTTPResponse(status: 500)
        case .tokenRefused: return FHIRServerModel.outcome(401, "login")
        case .tooMany:
            var response = FHIRServerModel.outcome(429, "throttled")
            response.headers["Retry-After"] = ["0", "1", "soon"][world.pick(0...2)]
            return response
        case .failingOutcome: return FHIRServerModel.outcome(200, "lock-error")
        case .refusedOutcome:
            // An element that is refused alone, twice, becomes a dead letter, as it should.
            guard FHIRServerModel.entries(of: request).count > 1 else { return server.answer(request) }
            return FHIRServerModel.outcome([200, 400, 413, 422][world.pick(0...3)], "invariant")
        case .page:
            return HTTPResponse(
                status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>Welcome</html>".utf8))
        case .late:
            delay += world.time(microseconds: 500_000...4_000_000)
            return server.answer(request)
        case .sentTwice:
            // Somebody in between sends it once more.
            _ = server.answer(request)
            return server.answer(request)
        case .doubled:
            // It arrives again while the server is still at work. A resource that is there twice stays so until it next
            // changes; a sample is sent again, whatever is lost.
            let url = FHIRServerModel.entries(of: request).first?["request"]["url"].string ?? ""
            _ = server.answer(request, doubles: url.contains("x-healthbus:sample") ? world.pick(1...3) : 0)
            throw Self.lost(.timedOut)
        }
    }

    // MARK: What it keeps

    /// Nothing that only the server has is deleted: another stack may have delivered it.
    let keepsWhatIsBeyond = true

    func takeIsBusy() -> Bool {
        defer { isBusy = false }
        return isBusy
    }

    func forget() { server = FHIRServerModel(base: Self.base, token: Self.token) }

    func rollBack() -> Bool {
        defer { before = server.withoutTwins }
        guard let before else { return false }
        server = before
        return true
    }

    /// The observations, without ids, references to a patient, and whether a final day was revised.
    func contents() -> [String: Value] {
        var contents: [String: Value] = [:]
        for (key, resources) in server.held where key.type == "Observation" {
            let kind = key.identifier.system.split(separator: ":").last ?? ""
            let name = key.identifier.value.split(separator: "/", maxSplits: 1).joined(separator: " ")
            for (place, resource) in resources.enumerated() {
                var members = resource.content.object ?? [:]
                members["id"] = nil
                if members["status"] == "amended" { members["status"] = "final" }
                var subject = members["subject"]?.object ?? [:]
                subject["reference"] = nil
                members["subject"] = .object(subject)
                contents["\(kind)s \(name)" + (place > 0 ? " twice" : "")] = .object(members)
            }
        }
        return contents
    }
}

import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import Logging
import Protocol

/// Checks where a running stack accepts data from phones and programs: whether it can be reached, by whom, and until
/// when.
struct DoorCheck {
    let stack: Stack

    init(_ stack: Stack) { self.stack = stack }

    func findings(_ beats: StackMetrics.Beats) -> [Finding] {
        stack.configuration.instances.filter { $0.manifest.kind == .ingest }.flatMap { instance -> [Finding] in
            guard let told = beats[instance.name]?.beat.ingest else { return [] }
            do throws(ConfigurationError) {
                var endpoint = try IngestAddress.endpoint(of: instance)
                endpoint.port = told.ingestPort
                // Another machine means another network.
                let reach = stack.configuration.bus.isRemote ? [] : reach(instance, endpoint)
                return reach + exposure(instance, endpoint) + tokens(instance)
                    + CertificateCheck(instance, now: WallClock.now).findings(about: instance.name)
            } catch { return [Finding(error)] }
        }
    }

    private func reach(_ instance: StackConfiguration.Instance, _ endpoint: Endpoint) -> [Finding] {
        let isTLS = instance.configuration["certificateFile"].string != nil
        // With TLS its name isn't this machine's loopback, so a handshake would only show that.
        guard !isTLS else { return [] }
        let url = IngestAddress.url(endpoint, isTLS: isTLS)
        func finding(_ what: String, _ remedy: String) -> Finding {
            Finding(.error, instance.name, "isn't reached at \(url): \(what)", remedy: remedy)
        }
        do {
            let answer = try HTTPClient(base: url).send(HTTPRequest(path: "/v1/health"), timeout: 5)
            if answer.status == 200 { return [] }
            return [finding("it answers \(answer.status)", "find out who listens there: 'ss -ltnp'")]
        } catch let error as HTTPError {
            return [finding(error.detail, "\(Finding.restart(instance.name)); see 'healthbus logs \(instance.name)'")]
        } catch { return [finding("\(error)", "see 'healthbus logs \(instance.name)'")] }
    }

    private func exposure(_ instance: StackConfiguration.Instance, _ endpoint: Endpoint) -> [Finding] {
        guard !endpoint.isLoopback, instance.configuration["certificateFile"].string == nil else { return [] }
        return [
            Finding(
                .note, instance.name, "listens at \(endpoint.host) without TLS, since 'plainHTTP' is set",
                remedy:
                    "nothing while a proxy, a VPN or a container's network is in between; else set 'certificateFile'")
        ]
    }

    private func tokens(_ instance: StackConfiguration.Instance) -> [Finding] {
        // In containers the list is in another one's volume.
        guard !stack.configuration.bus.isRemote else { return [] }
        do throws(Failure) {
            let list = try TokenFile(stack.state).read()
            guard !list.entries.contains(where: { $0.state(at: WallClock.now) == .valid }) else { return [] }
            return [
                Finding(
                    .note, instance.name, "lets nobody in: there is no token",
                    remedy: "'healthbus pair' lets a phone in, 'healthbus token new' a program")
            ]
        } catch {
            return [Finding(.error, instance.name, "lets nobody in: \(error.message)", remedy: error.hint ?? "")]
        }
    }
}

/// Looks at an ingest's certificate and key.
struct CertificateCheck {
    private let options: Value
    private let now: Instant

    init(_ instance: StackConfiguration.Instance, now: Instant) {
        options = instance.configuration
        self.now = now
    }

    /// Renewed certificates come a month before they expire.
    static let warnBefore = Duration.seconds(14 * 86_400)

    /// - Parameters:
    ///   - subject: what findings are about.
    ///   - key: the configuration key of the option with this name.
    func findings(about subject: String, key: (String) -> String? = { _ in nil }) -> [Finding] {
        guard let certificate = options["certificateFile"].string, let keyFile = options["keyFile"].string else {
            return []
        }
        func finding(_ severity: Finding.Severity, _ what: String, _ remedy: String) -> Finding {
            Finding(severity, subject, key: key("certificateFile"), what, remedy: remedy)
        }
        do throws(HTTPError) {
            let identity = try TLSIdentity(certificateFile: certificate, keyFile: keyFile)
            let ends = Instant(seconds: try identity.ends())
            if ends < now {
                return [
                    finding(
                        .error, "its certificate ended on \(InstantText.iso8601(ends))",
                        "renew it; it is taken up within a minute")
                ]
            }
            guard ends - now < Self.warnBefore else { return [] }
            return [
                finding(
                    .warning, "its certificate ends on \(InstantText.iso8601(ends))",
                    "renew it; it is taken up within a minute")
            ]
        } catch { return [finding(.error, "\(error.endpoint): \(error.detail)", error.hint)] }
    }
}

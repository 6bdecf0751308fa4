import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import Logging
import Protocol

/// Checks how a running stack accepts data from phones and programs: whether it can be reached, by whom, and until
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
                // The ingest may be on a different machine, in a different network.
                let isSupervised = Readiness.isUp(beats["supervisor"])
                let reach = stack.configuration.bus.isRemote ? [] : reach(instance, endpoint, isSupervised)
                return reach + exposure(instance, endpoint) + tokens(instance)
                    + CertificateCheck(instance, now: WallClock.now).findings(about: instance.name)
            } catch { return [Finding(error)] }
        }
    }

    private func reach(
        _ instance: StackConfiguration.Instance, _ endpoint: Endpoint, _ isSupervised: Bool
    ) -> [Finding] {
        let isTLS = instance.configuration["certificateFile"].string != nil
        // A TLS certificate doesn't cover this machine's loopback address, so all that a handshake would show is this
        // mismatch.
        guard !isTLS else { return [] }
        let url = IngestAddress.url(endpoint, isTLS: isTLS)
        func finding(_ what: String, _ remedy: String) -> Finding {
            Finding(.error, instance.name, "can't be reached at \(url): \(what)", remedy: remedy)
        }
        do {
            let answer = try HTTPClient(base: url).send(HTTPRequest(path: "/v1/health"), timeout: 5)
            if answer.status == 200 { return [] }
            return [finding("it answers \(answer.status)", "find out who listens there: 'ss -ltnp'")]
        } catch let error as HTTPError {
            return [
                finding(
                    error.detail,
                    "\(Finding.restart(instance.name, isSupervised: isSupervised)); see 'healthbus logs \(instance.name)'"
                )
            ]
        } catch { return [finding("\(error)", "see 'healthbus logs \(instance.name)'")] }
    }

    private func exposure(_ instance: StackConfiguration.Instance, _ endpoint: Endpoint) -> [Finding] {
        guard !endpoint.isLoopback, instance.configuration["certificateFile"].string == nil else { return [] }
        return [
            Finding(
                .note, instance.name, "listens at \(endpoint.host) without TLS, because 'plainHTTP' is set",
                remedy:
                    "nothing if a proxy, a VPN or a container's network is in between; otherwise set 'certificateFile'")
        ]
    }

    private func tokens(_ instance: StackConfiguration.Instance) -> [Finding] {
        // In containers, the list of tokens is in another container's volume.
        guard !stack.configuration.bus.isRemote else { return [] }
        do throws(Failure) {
            let list = try TokenFile(stack.state).read()
            // Someone who imports files needs no token; whoever had one may be missing it.
            guard !list.entries.isEmpty, !list.entries.contains(where: { $0.state(at: WallClock.now) == .valid })
            else { return [] }
            return [
                Finding(
                    .note, instance.name, "lets nobody in any more: no token is valid",
                    remedy: "'healthbus pair' lets a phone in, 'healthbus token new' a program")
            ]
        } catch {
            return [Finding(.error, instance.name, "lets nobody in: \(error.message)", remedy: error.hint ?? "")]
        }
    }
}

/// Checks how a running stack shows its page: whether it can be reached, and by whom.
struct PageCheck {
    let stack: Stack

    init(_ stack: Stack) { self.stack = stack }

    func findings(_ beats: StackMetrics.Beats) -> [Finding] {
        guard let instance = DashboardAddress.instance(in: stack.configuration),
            let port = beats[instance.name]?.beat.dashboard?.dashboardPort
        else { return [] }
        do throws(ConfigurationError) {
            let endpoint = try DashboardAddress.endpoint(of: instance)
            // The dashboard may be on a different machine, in a different network.
            let isSupervised = Readiness.isUp(beats["supervisor"])
            let reach = stack.configuration.bus.isRemote ? [] : reach(instance, endpoint, port: port, isSupervised)
            return reach + exposure(instance, endpoint)
        } catch { return [Finding(error)] }
    }

    private func reach(
        _ instance: StackConfiguration.Instance, _ endpoint: Endpoint, port: Int, _ isSupervised: Bool
    ) -> [Finding] {
        let url = DashboardAddress.url(endpoint, port: port)
        func finding(_ what: String, _ remedy: String) -> [Finding] {
            [Finding(.error, instance.name, "can't be reached at \(url): \(what)", remedy: remedy)]
        }
        do {
            let answer = try HTTPClient(base: url).send(HTTPRequest(path: "/api/session"), timeout: 5)
            switch answer.status {
            case 200: return []
            case 421:
                return finding(
                    "it doesn't accept the name \(endpoint.host)", "add \(endpoint.host) to its option 'hosts'")
            default: return finding("it answers \(answer.status)", "find out who listens there: 'ss -ltnp'")
            }
        } catch let error as HTTPError {
            return finding(
                error.detail,
                "\(Finding.restart(instance.name, isSupervised: isSupervised)); see 'healthbus logs \(instance.name)'")
        } catch { return finding("\(error)", "see 'healthbus logs \(instance.name)'") }
    }

    private func exposure(_ instance: StackConfiguration.Instance, _ endpoint: Endpoint) -> [Finding] {
        guard !endpoint.isLoopback else { return [] }
        let isOpen = DashboardAddress.isOpen(instance.configuration)
        return [
            Finding(
                .note, instance.name,
                "listens at \(endpoint.host) without TLS, because 'plainHTTP' is set"
                    + (isOpen ? "; anyone who reaches it can read all days without a token: 'open' is set" : ""),
                remedy: "nothing if a proxy, a VPN or a container's network is in between")
        ]
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

    /// Certificates are usually renewed a month before they expire.
    static let warnBefore = Duration.seconds(14 * 86_400)

    /// - Parameters:
    ///   - subject: what the findings are about.
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
                        .error, "its certificate expired on \(InstantText.iso8601(ends))",
                        "renew it; the new one is used within a minute")
                ]
            }
            guard ends - now < Self.warnBefore else { return [] }
            return [
                finding(
                    .warning, "its certificate expires on \(InstantText.iso8601(ends))",
                    "renew it; the new one is used within a minute")
            ]
        } catch { return [finding(.error, "\(error.endpoint): \(error.detail)", error.hint).keepingFromStarting()] }
    }
}

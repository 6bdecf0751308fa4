import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Logging
import Protocol

/// Checks how a running stack accepts data from phones and programs: whether it can be reached, by whom, and until
/// when.
struct DoorCheck {
    let stack: Stack

    init(_ stack: Stack) { self.stack = stack }

    func findings(_ beats: Beats) -> [Finding] {
        stack.configuration.instances.filter { $0.manifest.kind == .ingest }.flatMap { instance -> [Finding] in
            guard let reported = beats[instance.name]?.beat.ingest else { return [] }
            do throws(ConfigurationError) {
                var endpoint = try IngestAddress.endpoint(of: instance)
                endpoint.port = reported.ingestPort
                // The ingest may be on a different machine, in a different network.
                let isSupervised = Readiness.isUp(beats["supervisor"])
                // A TLS certificate doesn't cover this machine's loopback address, so all that a handshake would show
                // is this mismatch.
                let isTLS = instance.configuration["certificateFile"].string != nil
                let url = endpoint.url(isTLS: isTLS)
                let reach =
                    stack.configuration.bus.isRemote || isTLS
                    ? nil : Door(instance.name).reach(url, "/v1/health", isSupervised)
                let exposure =
                    endpoint.isLoopback || isTLS
                    ? nil : Door(instance.name).exposure(endpoint, otherwise: "; otherwise set 'certificateFile'")
                return [reach, exposure, tokens(instance)].compactMap { $0 }
                    + CertificateCheck(instance, now: WallClock.now).findings(about: instance.name)
            } catch { return [Finding(error)] }
        }
    }

    private func tokens(_ instance: StackConfiguration.Instance) -> Finding? {
        // In containers, the list of tokens is in another container's volume.
        guard !stack.configuration.bus.isRemote else { return nil }
        do throws(Failure) {
            let list = try TokenFile(stack.state).read()
            // Someone who imports files needs no token; whoever had one may be missing it.
            guard !list.entries.isEmpty, !list.entries.contains(where: { $0.state(at: WallClock.now) == .valid })
            else { return nil }
            return Finding(
                .note, instance.name, "lets nobody in any more: no token is valid",
                remedy: "'healthbus pair' lets a phone in, 'healthbus token new' a program")
        } catch {
            return Finding(.error, instance.name, "lets nobody in: \(error.message)", remedy: error.hint ?? "")
        }
    }
}

/// Checks how a running stack shows its page: whether it can be reached, and by whom.
struct PageCheck {
    let stack: Stack

    init(_ stack: Stack) { self.stack = stack }

    func findings(_ beats: Beats) -> [Finding] {
        guard let instance = stack.configuration.only(.dashboard),
            let port = beats[instance.name]?.beat.dashboard?.dashboardPort
        else { return [] }
        do throws(ConfigurationError) {
            let endpoint = try ServerPort.dashboard.endpoint(of: instance)
            // The dashboard may be on a different machine, in a different network.
            let isSupervised = Readiness.isUp(beats["supervisor"])
            let name = "it doesn't accept the name \(endpoint.host)"
            let reach =
                stack.configuration.bus.isRemote
                ? nil
                : Door(instance.name).reach(
                    DashboardAddress.url(endpoint, port: port), "/api/session", isSupervised,
                    misdirected: (name, "add \(endpoint.host) to its option 'hosts'"))
            let isOpen = DashboardAddress.isOpen(instance.configuration)
            let exposure =
                endpoint.isLoopback
                ? nil
                : Door(instance.name).exposure(
                    endpoint,
                    isOpen ? "; anyone who reaches it can read all days without a token: 'open' is set" : "")
            return [reach, exposure].compactMap { $0 }
        } catch { return [Finding(error)] }
    }
}

/// What both have in common: a server of an instance.
private struct Door {
    let name: String

    init(_ name: String) { self.name = name }

    /// - Parameter misdirected: what it means, and what to do, if the server doesn't accept its name.
    func reach(
        _ url: String, _ path: String, _ isSupervised: Bool, misdirected: (what: String, remedy: String)? = nil
    ) -> Finding? {
        func finding(_ what: String, _ remedy: String) -> Finding {
            Finding(.error, name, "can't be reached at \(url): \(what)", remedy: remedy)
        }
        do {
            let answer = try HTTPClient(base: url).send(HTTPRequest(path: path), timeout: 5)
            if answer.status == 200 { return nil }
            if answer.status == 421, let misdirected { return finding(misdirected.what, misdirected.remedy) }
            return finding("it answers \(answer.status)", "find out who listens there: 'ss -ltnp'")
        } catch let error as HTTPError {
            return finding(
                error.detail, "\(Finding.restart(name, isSupervised: isSupervised)); see 'healthbus logs \(name)'")
        } catch { return finding("\(error)", "see 'healthbus logs \(name)'") }
    }

    func exposure(_ endpoint: Endpoint, _ more: String = "", otherwise: String = "") -> Finding {
        Finding(
            .note, name, "listens at \(endpoint.host) without TLS, because 'plainHTTP' is set\(more)",
            remedy: "nothing if a proxy, a VPN or a container's network is in between\(otherwise)")
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
            guard ends - now < Self.warnBefore else { return [] }
            let isOver = ends < now
            return [
                finding(
                    isOver ? .error : .warning,
                    "its certificate \(isOver ? "expired" : "expires") on \(InstantText.iso8601(ends))",
                    "renew it; the new one is used within a minute")
            ]
        } catch { return [finding(.error, "\(error.endpoint): \(error.detail)", error.hint).keepingFromStarting()] }
    }
}

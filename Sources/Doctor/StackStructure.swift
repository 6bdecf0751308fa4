import Configuration
import HealthModel
import Inspection
import UploaderReading

/// What is wrong with a stack as a whole, judging only by its configuration and its plugins' manifests. Pure.
package struct StackStructure {
    let stack: StackConfiguration

    package init(stack: StackConfiguration) { self.stack = stack }

    package var findings: [Finding] {
        members + types + figures + significantFigures + orderedTypes + topics + rights + topicRights + servers
            + unreadable + people + choices
    }

    private func finding(
        _ severity: Finding.Severity, _ key: String, _ what: String, remedy: String
    ) -> Finding {
        Finding(severity, stack.file, key: key, what, remedy: remedy)
    }

    private var members: [Finding] {
        var found: [Finding] = []
        let needed: [(Manifest.Kind, Finding.Severity, String)] = [
            (.observer, .error, "nothing is stored"), (.debouncer, .error, "nothing is released to anybody"),
            (.consolidator, .warning, "no day is ever final"), (.uploader, .warning, "nothing is delivered"),
        ]
        for (kind, severity, consequence) in needed where !stack.instances.contains(where: { $0.manifest.kind == kind })
        {
            found.append(
                finding(
                    severity, "instances", "has no \(kind.rawValue): \(consequence)",
                    remedy: "add an instance of that kind, or remove the null that leaves it out"))
        }
        if stack.only(.hub) == nil, stack.bus.endpoints == nil {
            found.append(
                finding(
                    .error, "instances", "has no hub, and the bus is in the state folder: no process can reach another",
                    remedy: "add the hub, or say under \"bus\" where one runs"))
        }
        if stack.only(.backend) == nil {
            for uploader in stack.deliveringToBackends where uploader.address == nil {
                found.append(
                    finding(
                        .error, uploader.addressKey,
                        "is needed: this stack has no backend of its own", remedy: "name where to deliver to"))
            }
        }
        return found + sharedPlaces + tokens + unfed + longURLs
    }

    /// URLs that already contain the path that the uploader adds.
    private var longURLs: [Finding] {
        stack.deliveringToBackends.compactMap { uploader in
            guard let url = uploader.address, let end = url.firstRange(of: "/api/v1") else {
                return nil
            }
            return finding(
                .warning, uploader.addressKey,
                "contains /api/v1, which the uploader adds to it again",
                remedy: "end it before that: \(url[..<end.lowerBound])")
        }
    }

    /// Reference backends that stay empty.
    private var unfed: [Finding] {
        stack.instances.filter { $0.manifest.kind == .backend }.compactMap { UnfedBackend($0, in: stack) }.map {
            unfed in
            finding(
                .warning, "instances.\(unfed.backend.name)",
                "gets nothing, so a query finds nothing there: \(unfed.elsewhere)",
                remedy: "leave it out: \"\(unfed.backend.name)\": null; \(UnfedBackend.remedy)")
        }
    }

    /// Two destinations with the same target: each would repeat or undo the other's deliveries.
    private var sharedPlaces: [Finding] {
        let own = try? stack.only(.backend).map { try BackendAddress.url(of: $0) }
        var first: [String: String] = [:]
        return stack.instances.compactMap { instance -> Finding? in
            guard let place = SharedPlace(instance, backend: own ?? nil) else { return nil }
            guard let other = first[place.key] else {
                first[place.key] = instance.name
                return nil
            }
            return finding(
                .warning, "instances.\(instance.name).configuration.\(place.option)",
                "delivers to the same place as \(other): \(place.text)", remedy: place.remedy)
        }
    }

    /// A destination that names two tokens; or another server but no token, as the stack's own must not be sent there.
    private var tokens: [Finding] {
        let all = stack.deliveringToBackends
        let contradictions = all.compactMap { instance in
            DestinationToken.contradiction(in: instance.configuration).map { option, other in
                finding(
                    .error, "instances.\(instance.name).configuration.\(option)",
                    "can't be combined with '\(other)'", remedy: "leave one of them out")
            }
        }
        guard all.count > 1 else { return contradictions }
        return contradictions
            + all.filter { $0.address != nil && !DestinationToken.names($0.configuration) }.map {
                instance in
                finding(
                    .error, "instances.\(instance.name).configuration.tokenFile",
                    "is needed: with several destinations, the token of the stack's own backend goes to no other",
                    remedy:
                        "name the file that holds the token of \(instance.address ?? "that server")"
                )
            }
    }

    /// Types with a configured source order. An unknown type is either misspelt or newer than this release.
    private var orderedTypes: [Finding] {
        stack.instances.flatMap { instance in
            (instance.configuration["sourceOrder"].object ?? [:]).keys.sorted().compactMap { type -> Finding? in
                guard HealthType.known(type) == nil else { return nil }
                return finding(
                    .warning, "instances.\(instance.name).configuration.sourceOrder.\(type)",
                    "isn't a type this release knows, so its order most likely has no effect",
                    remedy: HealthType.nearest(to: type).map { "did you mean \($0)?" }
                        ?? "write HealthKit's identifier, as in HKQuantityTypeIdentifierStepCount")
            }
        }
    }

    private var types: [Finding] {
        var found: [Finding] = []
        var owners: [String: [String]] = [:]
        for handler in stack.handlers {
            for type in handler.manifest.types { owners[type, default: []].append(handler.name) }
        }
        let shared = owners.filter { $0.value.count > 1 }.mapValues { $0.sorted() }
        for (names, types) in Dictionary(grouping: shared, by: \.value).sorted(by: { $0.key.joined() < $1.key.joined() }
        ) {
            let types = types.map(\.key).sorted().map { $0 == "*" ? "every type that nobody names" : $0 }
            found.append(
                finding(
                    .error, "instances.\(names[1])",
                    "handles \(types.joined(separator: ", ")), and so does \(names[0]): these would count twice",
                    remedy: "leave one of them out: \"\(names[0])\": null"))
        }
        if owners["*"] == nil, !stack.handlers.isEmpty {
            found.append(
                finding(
                    .warning, "instances", "has no handler for the remaining types: they get no figures",
                    remedy: "add an instance of the plugin generic"))
        }
        return found
    }

    private var topics: [Finding] {
        let flow = TopicFlow(stack)
        return flow.withoutProducer.map { name, topic in
            finding(
                .warning, "instances.\(name)", "consumes \(topic), which no process in this stack produces",
                remedy: "add its producer, or leave out \(name)")
        }
            + flow.withoutConsumer.map { name, topic in
                finding(
                    .warning, "instances.\(name)", "produces \(topic), which no process in this stack consumes",
                    remedy: "add a consumer, or leave out \(name)")
            }
    }

    private var servers: [Finding] { ingests + dashboards + ports.list + unknownPort.list }

    /// What would keep an ingest from starting.
    private var ingests: [Finding] {
        stack.instances.filter { $0.manifest.kind == .ingest }.compactMap { instance in
            guard let endpoint = try? IngestAddress.endpoint(of: instance, environment: [:]),
                let problem = IngestAddress.problem(instance.configuration.object ?? [:], at: endpoint)
            else { return nil }
            return finding(
                .error, "instances.\(instance.name).configuration.\(problem.option)", problem.what,
                remedy: problem.remedy)
        }
    }

    /// What would keep a dashboard from starting.
    private var dashboards: [Finding] {
        let all = stack.instances.filter { $0.manifest.kind == .dashboard }
        let alone: [Finding] =
            stack.only(.consolidator) != nil
            ? []
            : all.map { instance in
                finding(
                    .error, "instances.\(instance.name)",
                    "can't start: it shows days, and this stack has no consolidator",
                    remedy: "add a consolidator, or leave the dashboard out: \"\(instance.name)\": null")
            }
        return alone
            + all.compactMap { instance in
                guard let endpoint = try? ServerPort.dashboard.endpoint(of: instance, environment: [:]),
                    let problem = DashboardAddress.problem(instance.configuration, at: endpoint)
                else { return nil }
                return finding(
                    .error, "instances.\(instance.name).configuration.host", problem.what, remedy: problem.remedy)
            }
    }

    /// A backend that takes any free port: an uploader without its URL can't know which one.
    private var unknownPort: Finding? {
        let unaddressed = stack.deliveringToBackends.filter { $0.address == nil }
        guard let backend = stack.only(.backend), let uploader = unaddressed.first,
            let port = try? BackendAddress.port(of: backend), port == 0
        else { return nil }
        let isVariable = backend.configuration["port"].int != 0
        return Finding(
            .error, isVariable ? ConfigurationError.environment : stack.file,
            key: isVariable ? ServerPort.backend.variable : "instances.\(backend.name).configuration.port",
            "is 0, so the backend takes any free port, and '\(uploader.name)' can't know which",
            remedy: "choose a port, such as \(ServerPort.backend.usualPort)")
    }

    /// The monitoring endpoint on the backend's port.
    private var ports: Finding? {
        guard let monitoring = stack.monitoring, let backend = stack.only(.backend),
            let port = try? BackendAddress.port(of: backend), port == monitoring.port, port != 0
        else { return nil }
        return finding(
            .error, "monitoring.port", "is the backend's port, \(port)", remedy: "give one of them another")
    }
}

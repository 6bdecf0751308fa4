import BackgroundDelivery
import Configuration
import HealthModel
import Logging
import UploaderReading

/// What is wrong with a stack as a whole, by its configuration and its plugins' manifests alone. Pure.
package struct StackStructure {
    let stack: StackConfiguration

    package init(stack: StackConfiguration) { self.stack = stack }

    package var findings: [Finding] { members + types + orderedTypes + topics + rights + servers }

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
                    remedy: "add an instance of that kind, or take away the null that leaves it out"))
        }
        if stack.only(.hub) == nil, stack.bus.endpoints == nil {
            found.append(
                finding(
                    .error, "instances", "has no hub, and the bus is in the state folder: nobody can hear anybody",
                    remedy: "add the hub, or name under \"bus\" where one runs"))
        }
        if stack.only(.backend) == nil {
            for uploader in stack.instances
            where uploader.manifest.isHTTPDestination && uploader.configuration["url"].isNull {
                found.append(
                    finding(
                        .error, "instances.\(uploader.name).configuration.url",
                        "is needed: this stack has no backend of its own", remedy: "name where to deliver to"))
            }
        }
        return found + sharedPlaces + tokens
    }

    /// Two destinations at one place: each would deliver what the other did, or undo it.
    private var sharedPlaces: [Finding] {
        let own = try? stack.only(.backend).map { try BackendAddress.url(of: $0) }
        var first: [String: String] = [:]
        return stack.instances.compactMap { instance -> Finding? in
            let manifest = instance.manifest
            let option = manifest.isFolderDestination ? "folder" : "url"
            guard manifest.isFolderDestination || manifest.isHTTPDestination else { return nil }
            let told = instance.configuration[option].string
            guard let place = told ?? (option == "url" ? (own ?? nil) : nil) else { return nil }
            let key = option + " " + (place.hasSuffix("/") ? String(place.dropLast()) : place)
            guard let other = first[key] else {
                first[key] = instance.name
                return nil
            }
            return finding(
                .warning, "instances.\(instance.name).configuration.\(option)",
                "delivers to the same place as \(other): \(place)",
                remedy: option == "url"
                    ? "leave one of them out: everything is sent there twice" : "give each a folder of its own")
        }
    }

    /// A destination that names another server and no token, where the stack's own must not go to it.
    private var tokens: [Finding] {
        let all = stack.instances.filter { $0.manifest.isHTTPDestination }
        guard all.count > 1 else { return [] }
        return all.filter { !$0.configuration["url"].isNull && $0.configuration["tokenFile"].isNull }.map { instance in
            finding(
                .error, "instances.\(instance.name).configuration.tokenFile",
                "is needed: where there are several destinations, the token of the stack's own backend goes to no other",
                remedy: "name the file that holds the token of \(instance.configuration["url"].string ?? "that server")"
            )
        }
    }

    /// Types whose sources are put into an order: one that isn't known is misspelt, or newer than this release.
    private var orderedTypes: [Finding] {
        stack.instances.flatMap { instance in
            (instance.configuration["sourceOrder"].object ?? [:]).keys.sorted().compactMap { type -> Finding? in
                guard HealthType.known(type) == nil else { return nil }
                let nearest = Nearest.to(type, among: HealthType.allKnown.keys.sorted())
                return finding(
                    .warning, "instances.\(instance.name).configuration.sourceOrder.\(type)",
                    "isn't a type that this release knows, so its order most likely counts for nothing",
                    remedy: nearest.map { "did you mean \($0)?" }
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
                    .warning, "instances", "has no handler for types that no other names: they have no figures",
                    remedy: "add an instance of the plugin generic"))
        }
        return found
    }

    private var topics: [Finding] {
        let flow = TopicFlow(stack)
        return flow.withoutProducer.map { name, topic in
            finding(
                .warning, "instances.\(name)", "consumes \(topic), which nobody in this stack produces",
                remedy: "add who produces it, or leave \(name) out")
        }
            + flow.withoutConsumer.map { name, topic in
                finding(
                    .warning, "instances.\(name)", "produces \(topic), which nobody in this stack consumes",
                    remedy: "add who consumes it, or leave \(name) out")
            }
    }

    private var rights: [Finding] {
        stack.instances.flatMap { instance -> [Finding] in
            let manifest = instance.manifest
            let tools: [Manifest.Kind] = [.hub, .ingest, .observer, .backend, .notifier, .dashboard]
            guard !tools.contains(manifest.kind) else { return [] }
            if manifest.kind == .debouncer, let refusal = manifest.registrationRefusal {
                return [
                    Finding(
                        .error, manifest.file, key: "entitlements",
                        "can't be registered for background delivery: changes reach nobody while the app isn't on the screen",
                        remedy: refusal.remedy)
                ]
            }
            guard !manifest.rights.entitlements.contains(.health) else { return [] }
            return [
                Finding(
                    .warning, manifest.file, key: "entitlements", "reads health data without the entitlement health",
                    remedy: "add \"health\" to \"entitlements\"")
            ]
        }
    }

    private var servers: [Finding] { ingests + ports }

    /// What an ingest would refuse to start with.
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

    /// Two servers of one stack on one port.
    private var ports: [Finding] {
        guard let monitoring = stack.monitoring, let backend = stack.only(.backend),
            let port = try? BackendAddress.port(of: backend), port == monitoring.port, port != 0
        else { return [] }
        return [
            finding(
                .error, "monitoring.port", "is the backend's port, \(port)", remedy: "give one of them another")
        ]
    }
}

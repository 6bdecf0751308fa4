import HealthModel

extension ContextSession {
    /// Does what a request's method and parameters ask for.
    mutating func reply(to method: String, _ params: Value) -> Reply {
        let named = params["_meta"][Key.version]
        if !named.isNull { return reply(to: method, params, naming: named) }
        switch method {
        case "initialize": return initialize(params)
        case "ping": return .answer([:])
        case "server/discover":
            let known = ContextVersion.stateless.map(\.rawValue).joined(separator: ", ")
            return .error(.wrongParameters("_meta lacks \(Key.version): one of \(known)"))
        default:
            guard let agreed else { return .error(.invalid("initialize comes first")) }
            return reply(to: method, params, in: agreed)
        }
    }

    /// In versions without `initialize`, a request itself contains everything that must be known about it.
    private func reply(to method: String, _ params: Value, naming version: Value) -> Reply {
        guard let text = version.string else { return .error(.wrongParameters("\(Key.version) must be a string")) }
        guard let version = ContextVersion.stateless.first(where: { $0.rawValue == text }) else {
            return .error(.unsupported(text))
        }
        guard params["_meta"][Key.capabilities].object != nil else {
            return .error(.wrongParameters("_meta lacks \(Key.capabilities), an object"))
        }
        switch method {
        case "server/discover":
            return .answer(
                result(
                    cacheable([
                        "supportedVersions": .array(ContextVersion.stateless.map { .string($0.rawValue) }),
                        "capabilities": ["tools": [:]], "instructions": .string(server.instructions),
                    ]), in: version))
        case "subscriptions/listen":
            guard params["notifications"].object != nil else {
                return .error(.wrongParameters("\"notifications\" must be an object"))
            }
            return .stays
        default: return reply(to: method, params, in: version)
        }
    }

    /// The methods that all versions have.
    private func reply(to method: String, _ params: Value, in version: ContextVersion) -> Reply {
        switch method {
        case "tools/list":
            guard params["cursor"].isNull else { return .error(.wrongParameters("there is no such cursor")) }
            let list: [String: Value] = ["tools": .array(tools.map { $0.value(in: version) })]
            return .answer(result(version.isStateless ? cacheable(list) : .object(list), in: version))
        case "tools/call":
            guard let name = params["name"].string else {
                return .error(.wrongParameters("\"name\" must be a string"))
            }
            guard tools.contains(where: { $0.name == name }) else {
                return .error(.wrongParameters("Unknown tool: \(ContextError.shortened(name))"))
            }
            let arguments = params["arguments"]
            guard arguments.isNull || arguments.object != nil else {
                return .error(.wrongParameters("\"arguments\" must be an object"))
            }
            return .call(tool: name, arguments: arguments.object ?? [:], version)
        default: return .error(.unknownMethod(method))
        }
    }

    private mutating func initialize(_ params: Value) -> Reply {
        guard agreed == nil else { return .error(.invalid("initialize was already answered")) }
        guard let wanted = params["protocolVersion"].string else {
            return .error(.wrongParameters("\"protocolVersion\" must be a string"))
        }
        let version = ContextVersion.agreed.first { $0.rawValue == wanted } ?? ContextVersion.newestAgreed
        agreed = version
        return .answer([
            "protocolVersion": .string(version.rawValue), "capabilities": ["tools": [:]],
            "serverInfo": identity(in: version), "instructions": .string(server.instructions),
        ])
    }

    private func identity(in version: ContextVersion) -> Value {
        var members: [String: Value] = ["name": .string(server.name), "version": .string(server.version)]
        if version.hasStructure { members["title"] = .string(server.title) }
        return .object(members)
    }

    /// Adds to a result the members that the protocol version requires in every result.
    func result(_ value: Value, in version: ContextVersion) -> Value {
        guard version.isStateless, var members = value.object else { return value }
        members["resultType"] = "complete"
        members["_meta"] = [Key.server: identity(in: version)]
        return .object(members)
    }

    /// Tools don't change while the program is running, but a different release may have different ones.
    private func cacheable(_ members: [String: Value]) -> Value {
        .object(members.merging(["ttlMs": 300_000, "cacheScope": "public"]) { own, _ in own })
    }

    private enum Key {
        static let version = "io.modelcontextprotocol/protocolVersion"
        static let capabilities = "io.modelcontextprotocol/clientCapabilities"
        static let server = "io.modelcontextprotocol/serverInfo"
    }
}

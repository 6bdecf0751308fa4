import HealthModel
import MessageBus
import Protocol

extension BusRights {
    /// Which senders a process of this stack trusts, based on the same rights that a sealed hub applies. Documented in
    /// docs/protocol.md ("Who is believed").
    package var trust: BusTrust {
        let speakers = Speakers(self)
        return BusTrust { speakers.believes($0) }
    }
}

/// Everyone who may speak on a stack's bus, and which of their messages count.
private struct Speakers: Sendable {
    private let instances: [String: TopicGrant]
    private let toolsOfInstances: [String: TopicGrant]
    /// Any sender that isn't an instance is a person: on a sealed bus the hub lets people give commands only with an
    /// operator's key.
    private let people: TopicGrant
    /// Some of these commands come from people and one from an instance.
    private let observersCommands: String
    /// The ingests: they may wake the app, and their tools may offer files; they may give no other
    /// commands.
    private let doors: Set<String>
    /// The dashboards: they and their tools may make the stack check for new data, too.
    private let dashboards: Set<String>

    init(_ rights: BusRights) {
        var instances: [String: TopicGrant] = [:]
        var tools: [String: TopicGrant] = [:]
        for instance in rights.stack.instances {
            let name = instance.name
            // The hub needs no permission, and so has no grant of its own.
            instances[name] =
                rights.grant(.instance(name), name: name)
                ?? Self.saying([.exact(BusConnection.hello), .exact(StandbyWord.prefix + name)])
            tools[name] = Self.saying(rights.tool(of: instance))
        }
        self.instances = instances
        toolsOfInstances = tools
        people = rights.person("")
        observersCommands = "control.\(rights.observer)"
        func names(_ kind: Manifest.Kind) -> Set<String> {
            Set(rights.stack.instances.filter { $0.manifest.kind == kind }.map(\.name))
        }
        (doors, dashboards) = (names(.ingest), names(.dashboard))
    }

    private static func saying(_ topics: [Subscription]) -> TopicGrant {
        TopicGrant(publishes: topics, hears: [], names: [])
    }

    func believes(_ message: Message) -> Bool {
        let (topic, from, body) = (message.topic, message.header.from, message.body)
        // Each process speaks only for itself.
        if topic == Heartbeat.topic(from) { return true }
        guard grant(from).mayPublish(topic) else { return false }
        if doors.contains(from) { return mayDoorSay(topic, body) }
        if dashboards.contains(BusName.owner(of: from)), topic.hasPrefix("control."), topic != BusConnection.hello {
            return isPlainSync(body)
        }
        if let owner = BusName.owner(ofTool: from), doors.contains(owner), topic.hasPrefix("control.") {
            return topic == observersCommands && isPlainOffer(from, body)
        }
        let isQuestion = topic.hasPrefix("pull.") || topic.hasPrefix("acknowledged.")
        if isQuestion { return body.read(Speaker.self)?.consumer == from && mayAsk(from, body) }
        if topic.hasPrefix("page.") { return body.read(Speaker.self)?.producer == from }
        return topic == observersCommands ? mayCommandObserver(from, body) : true
    }

    private func grant(_ name: String) -> TopicGrant {
        instances[name] ?? BusName.owner(ofTool: name).flatMap { toolsOfInstances[$0] } ?? people
    }

    /// Whether an ingest may send this message: it may send only pushed data, and wake the app. Only its tools hand
    /// files over.
    private func mayDoorSay(_ topic: String, _ body: Value) -> Bool {
        if topic.hasPrefix("control.") {
            return topic != observersCommands && CommandName.of(body) == WakeApp.name
        }
        return !topic.hasPrefix("pull.") && !topic.hasPrefix("page.")
    }

    /// Whether a command asks for no more than a sync of what is new: a historical one delivers everything again.
    private func isPlainSync(_ body: Value) -> Bool {
        CommandName.of(body) == SyncNow.name && body["history"].isNull
    }

    /// An ingest is exposed to the network: it may ask how much of a file has been read, but not for samples.
    private func mayAsk(_ from: String, _ body: Value) -> Bool {
        guard let owner = BusName.owner(ofTool: from), doors.contains(owner) else { return true }
        return body["query"].string == "imports"
    }

    /// Whether a file is offered only to add data. A complete import may also delete some.
    private func isPlainOffer(_ from: String, _ body: Value) -> Bool {
        guard let offer = ImportFile(body) else { return false }
        return offer.sender == from && offer.user != nil && offer.complete != true
    }

    /// The debouncer only registers itself; people do everything else, and offer only their own files.
    private func mayCommandObserver(_ from: String, _ body: Value) -> Bool {
        let speaker = body.read(Speaker.self)
        guard CommandName.of(body) == Register.name else {
            return instances[from] == nil && (speaker?.sender ?? .string(from)) == .string(from)
        }
        return instances[from] != nil && speaker?.consumer == from
    }
}

/// The member in which a message names its sender, in addition to its header: each kind of message has one of these.
private struct Speaker: Codable {
    @IfReadable var consumer: String?
    @IfReadable var producer: String?
    /// Used in a command that offers a file.
    var sender: Value?
}

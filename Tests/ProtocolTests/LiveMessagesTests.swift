import Configuration
import Foundation
import HealthModel
import Monitoring
import Processes
import Protocol
import TestSupport
import Testing

/// Compares the schema with the messages that a stack's processes actually send. The processes are started once for all
/// tests.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct LiveMessagesTests {
    private func stack() throws -> LiveStack { try LiveStack.recorded.get() }

    @Test(.enabled(if: SchemaChecker.isInstalled, "make test installs the schema's checker"))
    func everyMessageObeysTheSchema() throws {
        let stack = try stack()
        #expect(stack.unknown.isEmpty, "topics that the schema doesn't know")
        let wrong = zip(stack.items, try SchemaChecker.check(stack.items)).filter { $0.1 != nil }
        for (item, why) in wrong.prefix(10) { Issue.record("\(item.rule): \(why ?? "")") }
        #expect(wrong.isEmpty)
        print("\(stack.items.count) headers and bodies of \(stack.messages.count) messages compared with the schema")
    }

    /// A rule that applies to no message would never be checked.
    @Test func everyRuleIsUsed() throws {
        let stack = try stack()
        #expect(LiveStack.rules.subtracting(stack.bodies.keys).isEmpty)
        let hints = Set(stack.messages.map(\.topic)).intersection([
            "figures.steps", "events.sleep", "events.workouts", "daily.summary", "control.hello",
            "alert.delivery-stopped",
        ])
        #expect(hints.count == 6, "\(hints)")
        let phases = Set(stack.messages.compactMap { $0.topic.hasPrefix("heartbeat.") ? $0.body["phase"].string : nil })
        #expect(phases == ["running", "ready", "stopped"])
        // Released anchors come in both forms: as a plain number and with types.
        let released = stack.messages.filter { $0.topic.hasPrefix("sync.") }.map { $0.body["released"] }
        #expect(released.contains { $0.int != nil } && released.contains { $0["types"].object?.isEmpty == false })
        let rows = stack.messages.flatMap { $0.body["rows"].array ?? [] }
        let kinds = Set(rows.compactMap { $0["topic"].string?.split(separator: ".").first })
        #expect(kinds == ["figures", "events", "daily", "alert"])
    }

    /// `graph` draws what plugins produce according to their manifests, and a sealed bus lets them send nothing else:
    /// the messages sent are exactly these.
    @Test func everyInstanceSaysWhatItsManifestSays() throws {
        let messages = try stack().messages
        let recorded = Set(messages.map(\.topic).filter { $0.hasPrefix("observed.") })
        let configuration = try StackConfiguration(
            path: nil, catalog: try PluginCatalog(folder: SchemaChecker.checkout + "/plugins", programs: ""))
        for instance in configuration.instances where instance.manifest.kind != .hub {
            // Every instance sends its state (whether or not it is standing by), questions and answers, and commands to
            // others.
            let common = ["heartbeat.\(instance.name)", "standby.\(instance.name)", "page.*", "pull.*"]
                .map { TopicPattern($0) }
            let produced = instance.producedTopics
            let said = Set(messages.filter { $0.header.from == instance.name }.map(\.topic))
            let unnamed = said.filter { topic in !(common + produced).contains { $0.matches(topic) } }
            #expect(unnamed.isEmpty, "\(instance.name) sends topics that its manifest doesn't declare")
            // An alert is sent only when something goes wrong, so an instance needn't send one. And a handler has no
            // figures for types that this person doesn't record.
            let types = instance.manifest.types
            let isFed = types.isEmpty || types.contains { recorded.contains("observed.\($0)") }
            let unsaid = produced.filter { pattern in
                isFed && pattern.text != "alert.*" && !said.contains { pattern.matches($0) }
            }
            #expect(unsaid.isEmpty, "\(instance.name)'s manifest declares topics that it doesn't send")
        }
    }

    /// The schema can't check members that it doesn't name: corrupting any member that is sent must be noticed, and so
    /// must leaving one out.
    @Test(.enabled(if: SchemaChecker.isInstalled, "make test installs the schema's checker"))
    func everyMemberIsNamed() throws {
        let stack = try stack()
        var items: [SchemaChecker.Item] = []
        var labels: [String] = []
        let optional = try Self.optionalMembers()
        func add(_ rule: String, _ members: [String: Value], _ label: String) {
            items.append(.init(rule: rule, bytes: CBOREncoder.encode(.object(members))))
            labels.append("\(rule): \(label)")
        }
        for (rule, bytes) in stack.bodies {
            let members = try #require(try CBORDecoder.decode(bytes).object)
            for name in members.keys {
                var spoilt = members
                spoilt[name] = Self.spoilt(members[name])
                add(rule, spoilt, "\(name) ill-typed")
                spoilt[name] = nil
                if optional[rule]?.contains(name) != true { add(rule, spoilt, "without \(name)") }
            }
        }
        let header = try #require(try CBORDecoder.decode(stack.frames.first?[1] ?? []).object)
        for name in header.keys {
            add("header", header.filter { $0.key != name }, "without \(name)")
            add("header", header.merging([name: Self.spoilt(header[name])]) { $1 }, "\(name) ill-typed")
        }
        #expect(items.count > 200)
        for (label, why) in zip(labels, try SchemaChecker.check(items)) where why == nil { Issue.record("\(label)") }
    }

    private static func spoilt(_ value: Value?) -> Value { value?.bool == nil ? .bool(true) : "true" }

    /// The members that the schema lets each rule leave out, with those of the groups that it includes.
    private static func optionalMembers() throws -> [String: Set<String>] {
        var texts: [String: [String]] = [:]
        var rule = ""
        for line in try schema().split(separator: "\n") {
            if let begun = line.prefixMatch(of: /([a-z-]+) = [\{\(]/) { rule = String(begun.1) }
            texts[rule, default: []].append(String(line))
        }
        func optional(_ rule: String) -> Set<String> {
            texts[rule, default: []].reduce(into: []) { found, line in
                if let member = line.prefixMatch(of: /\s+\? "([^"]+)"/) { found.insert(String(member.1)) }
                if let group = line.prefixMatch(of: /\s+([a-z-]+-members),/) {
                    found.formUnion(optional(String(group.1)))
                }
            }
        }
        return Dictionary(uniqueKeysWithValues: texts.keys.map { ($0, optional($0)) })
    }

    private static func schema() throws -> String {
        try String(contentsOfFile: SchemaChecker.checkout + "/docs/protocol.cddl", encoding: .utf8)
    }

    /// Messages that are decoded and encoded again equal what was sent, byte for byte.
    @Test func everyMessageComesBackAsItWas() throws {
        for (frames, message) in zip(try stack().frames, try stack().messages) {
            try #require(message.frames == frames, "\(message.topic)")
        }
    }

    @Test func pagesKeepToTheirSize() throws {
        let largest = try stack().frames.max { $0[2].count < $1[2].count }
        let topic = largest.map { String(decoding: $0[0], as: UTF8.self) } ?? ""
        print("largest body: \(largest?[2].count ?? 0) bytes of \(topic)")
        #expect(largest?[2].count ?? .max <= 64 << 10)
    }

    /// Every page of samples can be read.
    @Test func everyPageOfSamplesIsRead() throws {
        let pages = try stack().messages.map { $0.body["samples"] }.filter { !$0.isNull }
        #expect(pages.count > 20)
        for page in pages { _ = try SamplePage(wireValue: page) }
    }

    /// A new stack's consumers know which store a hint's sequence numbers belong to, so none has to start over.
    @Test func nobodyIsAskedToBeginAgain() throws {
        let resets = try stack().messages.filter {
            $0.body["error"] == "reset" && !$0.topic.hasPrefix("page.client-")
        }
        #expect(resets.isEmpty, "\(resets.map(\.topic))")
    }

    @Test func theStackEndsWell() throws {
        #expect(try stack().exit == .code(0))
    }
}

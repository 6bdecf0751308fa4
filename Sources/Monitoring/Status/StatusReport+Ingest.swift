import Client
import Configuration
import HealthModel
import Inspection
import Protocol
import Terminal

extension StatusReport {
    /// Where phones and programs send their data, and what has arrived: `{address, port, taken, refused, lastTaken,
    /// following}`; null if no ingest is running.
    static func ingest(_ instance: StackConfiguration.Instance?, _ beat: Heartbeat?) throws -> Value {
        guard let instance, let reported = beat?.ingest else { return .null }
        var endpoint = try IngestAddress.endpoint(of: instance)
        endpoint.port = reported.ingestPort
        let isTLS = instance.configuration["certificateFile"].string != nil
        return [
            "address": .string(endpoint.url(isTLS: isTLS)), "port": .integer(Int64(reported.ingestPort)),
            "taken": .integer(reported.taken), "refused": .integer(reported.refused),
            "lastTaken": Value(reported.lastTaken.map { InstantText.iso8601($0) }),
            "following": reported.following.map(Self.following) ?? .null,
        ]
    }

    /// `{address, samples, lastAnswer, hasMore, isCopying, problem: {what, remedy, isRefusal, since, nextTry}}`.
    package static func following(_ reported: IngestDetails.Following) -> Value {
        [
            "address": .string(reported.address), "samples": .integer(reported.samples),
            "lastAnswer": Value(reported.lastAnswer.map { InstantText.iso8601($0) }),
            "hasMore": .bool(reported.hasMore),
            "isCopying": .bool(reported.isCopying),
            "problem": reported.problem.map { problem in
                [
                    "what": .string(problem.what), "remedy": .string(problem.remedy),
                    "isRefusal": .bool(problem.isRefusal), "since": .string(InstantText.iso8601(problem.since)),
                    "nextTry": .string(InstantText.iso8601(problem.nextTry)),
                ]
            } ?? .null,
        ]
    }

    /// A line about the ingest; empty when nothing is known.
    static func ingestText(_ ingest: Value, _ ago: (Value) -> String) -> String {
        guard let address = ingest["address"].string else { return "" }
        func count(_ member: String) -> String { HumanFormat.count(Int(ingest[member].int ?? 0)) }
        var text = "Ingest: \(address), \(count("taken")) requests taken"
        if ingest["refused"] != 0 { text += ", \(count("refused")) refused" }
        if !ingest["lastTaken"].isNull { text += ", the last one taken \(ago(ingest["lastTaken"]))" }
        return text + ".\n" + followingText(ingest["following"], ago)
    }

    /// A line about the stack that this one follows; empty if there is none.
    package static func followingText(_ following: Value, _ ago: (Value) -> String) -> String {
        guard let address = following["address"].string else { return "" }
        let last = following["lastAnswer"]
        var text = "Follows \(address): " + (last.isNull ? "no answer yet" : "last answer \(ago(last))")
        let samples = Int(following["samples"].int ?? 0)
        if samples > 0 { text += ", \(HumanFormat.count(samples, "sample")) taken" }
        let problem = following["problem"]
        if let what = problem["what"].string {
            text += "; first failure \(ago(problem["since"])), next try \(ago(problem["nextTry"])): \(what)"
        } else if !last.isNull {
            text += following["hasMore"] == true ? ", more to come" : ", up to date"
        }
        if following["isCopying"] == true { text += "; no day becomes final until all of it has been copied" }
        return text + ".\n"
    }
}

extension Stack {
    /// Where the ingest listens: what it reports while running, since its usual port may have been in use; otherwise
    /// what is configured.
    package func ingestEndpoint() throws -> (endpoint: Endpoint, isTLS: Bool) {
        let ingest = configuration.only(.ingest)
        var endpoint = try IngestAddress.endpoint(of: ingest)
        if let ingest, !configuration.bus.isRemote {
            // A silent ingest reports no port: the configured one is the best guess.
            let reader = reader(foundSilent: { _ in })
            if try reader.isRunning(ingest.name),
                let reported = try reader.gather([ingest.name], within: 1.5)[ingest.name]?.beat.ingest
            {
                endpoint.port = reported.ingestPort
            }
        }
        return (endpoint, ingest?.configuration["certificateFile"].string != nil)
    }
}

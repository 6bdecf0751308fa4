import Client
import Configuration
import HealthModel
import Protocol
import Terminal

extension StatusReport {
    /// Where phones and programs send their data, and what has arrived: `{address, port, taken, refused, lastTaken}`;
    /// null if none is running.
    static func ingest(_ instance: StackConfiguration.Instance?, _ beat: Heartbeat?) throws -> Value {
        guard let instance, let told = beat?.ingest else { return .null }
        var endpoint = try IngestAddress.endpoint(of: instance)
        endpoint.port = told.ingestPort
        let isTLS = instance.configuration["certificateFile"].string != nil
        return [
            "address": .string(IngestAddress.url(endpoint, isTLS: isTLS)), "port": .integer(Int64(told.ingestPort)),
            "taken": .integer(told.taken), "refused": .integer(told.refused),
            "lastTaken": Value(told.lastTaken.map { InstantText.iso8601($0) }),
        ]
    }

    /// A line about the ingest; empty when nothing is known.
    static func ingestText(_ ingest: Value, _ ago: (Value) -> String) -> String {
        guard let address = ingest["address"].string else { return "" }
        func count(_ member: String) -> String { HumanFormat.count(Int(ingest[member].int ?? 0)) }
        var text = "Ingest: \(address), \(count("taken")) requests taken"
        if ingest["refused"] != 0 { text += ", \(count("refused")) refused" }
        if !ingest["lastTaken"].isNull { text += ", the last one taken \(ago(ingest["lastTaken"]))" }
        return text + ".\n"
    }
}

extension Stack {
    /// Where the ingest listens: what it reports while running, since its usual port may have been in use; otherwise
    /// what is configured.
    package func ingestEndpoint() throws -> (endpoint: Endpoint, isTLS: Bool) {
        let ingest = IngestAddress.instance(in: configuration)
        var endpoint = try IngestAddress.endpoint(of: ingest)
        if let ingest, !configuration.bus.isRemote {
            // A silent ingest reports no port: the configured one is the best guess.
            let reader = reader(foundSilent: { _ in })
            if try reader.isRunning(ingest.name),
                let told = try reader.gather([ingest.name], within: 1.5)[ingest.name]?.beat.ingest
            {
                endpoint.port = told.ingestPort
            }
        }
        return (endpoint, ingest?.configuration["certificateFile"].string != nil)
    }
}

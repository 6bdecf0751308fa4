import Configuration
import Foundation
import HTTP
import HealthModel

/// What a stack's servers need in order to listen.
extension Surroundings {
    var ports: [Finding] {
        var found: [Finding] = []
        if let backend = stack.only(.backend) {
            do throws(ConfigurationError) {
                let port = try BackendAddress.port(of: backend, environment: environment)
                let runs = InstanceLock.isHeld(folder: state.instance(backend.name))
                found += Self.port(
                    Endpoint(host: BackendAddress.host(of: backend), port: port),
                    key: "instances.\(backend.name).configuration.port", in: stack.file, isOurs: runs,
                    other: "set another, or HEALTHBUS_BACKEND_PORT")
            } catch { found.append(Finding(error)) }
        }
        found += door(stack.only(.ingest), usual: IngestAddress.usualPort, IngestAddress.variable) {
            instance throws(ConfigurationError) in
            try IngestAddress.endpoint(of: instance, environment: environment)
        }
        found += door(stack.only(.dashboard), usual: DashboardAddress.usualPort, DashboardAddress.variable) {
            instance throws(ConfigurationError) in
            try DashboardAddress.endpoint(of: instance, environment: environment)
        }
        if let monitoring = stack.monitoring {
            found += Self.port(
                monitoring, key: "monitoring.port", in: stack.file,
                isOurs: InstanceLock.isHeld(folder: state.instance("supervisor")), other: "set another")
        }
        return found
    }

    /// For a server that takes the next free port if its usual one is taken.
    private func door(
        _ instance: StackConfiguration.Instance?, usual: Int, _ variable: String,
        at endpoint: (StackConfiguration.Instance) throws(ConfigurationError) -> Endpoint
    ) -> [Finding] {
        guard let instance else { return [] }
        do throws(ConfigurationError) {
            let endpoint = try endpoint(instance)
            let taken = Self.port(
                endpoint, key: "instances.\(instance.name).configuration.port", in: stack.file,
                isOurs: InstanceLock.isHeld(folder: state.instance(instance.name)),
                other: "set another, or \(variable)")
            guard endpoint.port == usual else { return taken }
            return taken.map { finding in
                var moved = finding
                moved.severity = .warning
                moved.remedy =
                    "nothing: the next free one is used, which 'healthbus status' names; to choose one, set \(variable)"
                return moved
            }
        } catch { return [Finding(error)] }
    }

    private static func port(_ endpoint: Endpoint, key: String, in file: String, isOurs: Bool, other: String)
        -> [Finding]
    {
        guard !isOurs, endpoint.port != 0 else { return [] }
        do throws(HTTPError) { try ListeningSocket.check(host: endpoint.host, port: endpoint.port) } catch {
            return [
                Finding(.error, file, key: key, "can't be listened on, \(endpoint): \(error.detail)", remedy: other)
            ]
        }
        return []
    }

    /// The page's charts are drawn by a library installed on the machine.
    var charts: [Finding] {
        // If it runs elsewhere, its process has its own files.
        guard !stack.bus.isRemote else { return [] }
        return stack.instances.filter { $0.manifest.kind == .dashboard }.compactMap { instance in
            guard let file = instance.configuration["chartFile"].string,
                !FileManager.default.isReadableFile(atPath: file)
            else { return nil }
            return Finding(
                .warning, stack.file, key: "instances.\(instance.name).configuration.chartFile",
                "\(file) isn't there, or can't be read: the dashboard's page has no charts",
                remedy: "install libjs-chart.js, or name a copy of Chart.js")
        }
    }
}

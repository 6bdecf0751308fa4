import Configuration
import Foundation
import HTTP
import HealthModel

/// What a stack's servers need in order to listen.
extension Surroundings {
    var ports: [Finding] {
        var found = ServerPort.allCases.flatMap { door($0) }
        if let monitoring = stack.monitoring {
            let isOurs = InstanceLock.isHeld(folder: state.instance("supervisor"))
            found += taken(monitoring, isOurs: isOurs).map { why in
                Finding(.error, stack.file, key: "monitoring.port", why, remedy: "set another")
            }
        }
        return found
    }

    private func door(_ server: ServerPort) -> [Finding] {
        guard let instance = stack.only(server.kind) else { return [] }
        do throws(ConfigurationError) {
            let endpoint = try server.endpoint(of: instance, environment: environment)
            let isVariable = environment.filled(server.variable) != nil
            let isOurs = InstanceLock.isHeld(folder: state.instance(instance.name))
            let isMoved = endpoint.port == server.movablePort
            return taken(endpoint, isOurs: isOurs).map { why in
                Finding(
                    isMoved ? .warning : .error, isVariable ? ConfigurationError.environment : stack.file,
                    key: isVariable ? server.variable : "instances.\(instance.name).configuration.port", why,
                    remedy: isMoved
                        ? "nothing: the next free one is used, which 'healthbus status' names; to choose one, set "
                            + server.variable
                        : "set another" + (isVariable ? "" : ", or \(server.variable)"))
            }
        } catch { return [Finding(error)] }
    }

    /// Why a server can't listen on an address; empty if it can.
    /// - Parameter isOurs: whether the process that should listen there is already running.
    private func taken(_ endpoint: Endpoint, isOurs: Bool) -> [String] {
        guard !isOurs, endpoint.port != 0 else { return [] }
        do throws(HTTPError) { try ListeningSocket.check(host: endpoint.host, port: endpoint.port) } catch {
            let holder = error.kind == .addressInUse ? PortHolder(ofPort: endpoint.port) : nil
            let whose = holder.map { ", \($0.description)" } ?? ""
            return ["can't be listened on, \(endpoint): \(error.detail)\(whose)"]
        }
        return []
    }

    /// The page's charts are drawn by a library installed on the machine.
    var charts: [Finding] {
        // If the dashboard runs elsewhere, its process uses the files of that machine.
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

import Configuration
import HTTP
import HealthModel
import HealthResources

/// Destinations that receive FHIR resources.
extension StackStructure {
    var resources: [Finding] {
        stack.instances.flatMap { instance -> [Finding] in
            let declared = instance.manifest.configuration["properties"]
            guard !declared["patients"].isNull else { return [] }
            let key = "instances.\(instance.name).configuration"
            let options = instance.configuration
            let patients = PatientNames(options["patients"])
            var found: [Finding] = []
            if let problem = patients.problem {
                found.append(
                    Finding(
                        .error, stack.file, key: key + ".patients", problem,
                        remedy: "otherwise each overwrites what the other has there"))
            }
            // A value that isn't a URL is reported when the instance starts.
            guard instance.manifest.destination?.kind == .server, let server = instance.address,
                let isLocal = try? HTTPClient.isLoopback(server),
                let isReadable = try? HTTPClient.isReadableOnTheWay(server)
            else { return found }
            if isReadable, options["plainHTTP"].bool != true {
                found.append(
                    Finding(
                        .error, stack.file, key: instance.addressKey,
                        "would send the token and health data in the clear to another machine",
                        remedy: "use https://, or set 'plainHTTP' to true in a network that you trust"))
            }
            if !isLocal, patients.isEmpty {
                found.append(
                    Finding(
                        .warning, stack.file, key: key + ".patients",
                        "is empty: a second stack with a user of the same name would overwrite this one's resources",
                        remedy: "name each user as the server does: \"patients\": { \"me\": \"system|value\" }"))
            }
            return found
        }
    }
}

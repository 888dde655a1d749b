// Requests about devices: which there are, what they did lately, and which may be used.
#pragma once

#include <string>

#include "api/messages/devices.h"
#include "daemon/daemon_devices.h"
#include "daemon/desk.h"
#include "daemon/device_history.h"
#include "daemon/routes.h"
#include "daemon/targets.h"

namespace berth {

/// Every device with its readings and jobs, as in GET /v1/devices and the event `devices`.
DevicesReply devices_reply(const Desk& desk, const DaemonDevices& devices);

/// GET /v1/devices
void list_devices(Desk& desk, const DaemonDevices& devices, RoutedRequest asked);
/// GET /v1/devices/history: the last minutes.
void show_device_history(Desk& desk, const DaemonDevices& devices, const DeviceHistory& history,
                         RoutedRequest asked);
/// GET /v1/devices/cluster: of a cluster, as Slurm tells. `targets` nullptr: there is none.
void show_cluster_devices(Desk& desk, Targets* targets, RoutedRequest asked);
/// POST /v1/devices/add, remove, drain and undrain
void change_devices(Desk& desk, DaemonDevices& devices, RoutedRequest asked);

}  // namespace berth
